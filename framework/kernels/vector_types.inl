// Types of vectors of kVectorBytes. Included by vectors_*.inl.

template <class T>
constexpr Index kLanes = kVectorBytes / static_cast<Index>(sizeof(T));
template <class T>
using Vec __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias)) = T;
template <class T>
using IntOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
using Wide = Vec<std::uint64_t>;
