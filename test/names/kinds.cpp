// Names of many kinds, compiled for test/names/names.txt (see there). C++20.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns { namespace inner { struct S { int f(int) const; int g() volatile; int h() &; int k() &&; static int s(char); int data; S(); S(int); ~S(); }; } }
int ns::inner::S::f(int) const { return 1; }
int ns::inner::S::g() volatile { return 1; }
int ns::inner::S::h() & { return 1; }
int ns::inner::S::k() && { return 1; }
int ns::inner::S::s(char) { return 1; }
ns::inner::S::S() {}
ns::inner::S::S(int) {}
ns::inner::S::~S() {}

// Built-in types.
void builtin(bool, char, signed char, unsigned char, wchar_t, char16_t, char32_t, char8_t) {}
void builtin(short, unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long) {}
void builtin(__int128, unsigned __int128, float, double, long double, __float128) {}
void builtin(std::nullptr_t, std::size_t, ...) {}
void half(_Float16) {}
void halves(_Float16*, const _Float16*, _Float32, _Float64, _Float32x) {}
void complex(_Complex float, _Complex double) {}

// Compound types.
void pointers(int*, const int*, int* const*, const int* const*, volatile int*, const volatile int*, int**) {}
void references(int&, const int&, int&&, int* __restrict* , int*&) {}
void arrays(int (*)[4], int (&)[2][3], const float (&)[8], int (*(*)[2])[3]) {}
void functions(void (*)(), int (*)(float, ...), void (&)(int), int (*(*)(char))(double), void (**)(int)) {}
void throwing(void (*)() noexcept, int (*)(int) noexcept) {}
void members(int ns::inner::S::*, int (ns::inner::S::*)(int) const, void (ns::inner::S::*)() &, int (ns::inner::S::*)() &&) {}
void memberArrays(int (ns::inner::S::*)[3], int (*ns::inner::S::*)(int)) {}
typedef int v4 __attribute__((vector_size(16)));
typedef float v8 __attribute__((vector_size(32)));
void vectors(v4, v8*, const v4&) {}

// Templates: types, values, templates, packs.
enum class Color : unsigned char { red, green, blue }; enum Plain { one, minus = -1 };
template <class T> struct Box { T value; struct Inner {}; void m() const; template <class U> void n(U) {} };
template <class T> void Box<T>::m() const {}
template <class T, int N> struct Array { T data[N]; };
template <template <class> class C, class T> struct Apply {};
template <class... T> struct List {};
template <auto... V> struct Values {};
template <int... I> struct Ints {};
template <class T> T scale(T x, T* p, const T& r) { return x; }
template float scale<float>(float, float*, const float&);
template double* scale<double*>(double*, double**, double* const&);
template <class T, int N> void sized(T (&)[N], Array<T, N>*) {}
template void sized<int, 5>(int (&)[5], Array<int, 5>*);
template void sized<const float, 16>(const float (&)[16], Array<const float, 16>*);
template <bool B, char C, unsigned U, long L, unsigned long UL, long long LL, unsigned long long ULL> void values() {}
template void values<true, 'x', 7u, -8, 9ul, -10ll, 11ull>();
template void values<false, '\0', 0, 0, 0, 0, 0>();
template <short S, unsigned char C, signed char D, wchar_t W, char16_t H> void smaller() {}
template void smaller<-3, 200, -100, L'a', u'b'>();
template <Color C, Plain P> void enums() {}
template void enums<Color::blue, minus>();
template <auto V> void automatic() {}
template void automatic<5>(); template void automatic<'c'>(); template void automatic<nullptr>(); template void automatic<true>();
int global; int function(int); namespace ns { int variable; void call(float); void over(int); }
template void automatic<&global>(); template void automatic<&ns::variable>(); template void automatic<&function>();
template void automatic<&ns::call>(); template void automatic<&ns::inner::S::f>(); template void automatic<&ns::inner::S::data>();
template void automatic<&ns::inner::S::s>();
template <int& R> void referenced() {} template void referenced<global>(); template void referenced<ns::variable>();
template <class T, T V> void constant(std::integral_constant<T, V>) {}
template void constant<int, 3>(std::integral_constant<int, 3>);
template <template <class> class C, class T> void applied(C<T>, Apply<C, T>) {}
template void applied<Box, int>(Box<int>, Apply<Box, int>);
template <class... T> void pack(T..., List<T...>) {}
template void pack<>(List<>); template void pack<int>(int, List<int>); template void pack<int, char*, Box<float>>(int, char*, Box<float>, List<int, char*, Box<float>>);
template <class... T> void wrapped(Box<T>..., T*..., const T&...) {}
template void wrapped<int, float>(Box<int>, Box<float>, int*, float*, const int&, const float&);
template <class... T, class... U> void two(List<T...>, List<U...>, std::pair<T, U>...) {}
template void two(List<int, char>, List<float, double>, std::pair<int, float>, std::pair<char, double>);
template <class... F> void callables(F (*... f)(int)) {}
template void callables<int, float>(int (*)(int), float (*)(int));
template <class... T> void arraysOf(T (&... a)[3]) {} template void arraysOf<int, char>(int (&)[3], char (&)[3]);
template <class T> struct Outer { template <class U, class V> struct Nested { template <class W> void m(T, U, V, W) {} }; };
template void Outer<int>::Nested<float, char*>::m<Box<int>>(int, float, char*, Box<int>);
template <class R, class... A> R invoke(R (*)(A...), A...) { return R(); }
template int invoke<int, float, char>(int (*)(float, char), float, char);
template <class T> void (*returnsFunction(T))(int) { return nullptr; } template void (*returnsFunction<char>(char))(int);
template <class T> T (&returnsArray(T (&a)[4]))[4] { return a; } template int (&returnsArray<int>(int (&)[4]))[4];
template <class T> int T::*returnsMember(T) { return nullptr; } template int ns::inner::S::*returnsMember(ns::inner::S);

// Dependent expressions.
template <class T> auto sum(T a, T b) -> decltype(a + b) { return a + b; } template auto sum<int>(int, int) -> decltype(1 + 1);
template <class T> auto dot(T a) -> decltype(a.value) { return a.value; } template auto dot<Box<int>>(Box<int> a) -> decltype(a.value);
template <class T> auto arrow(T* a) -> decltype(a->value) { return a->value; } template auto arrow<Box<int>>(Box<int>* a) -> decltype(a->value);
template <class T> auto starred(T a) -> decltype(*a) { return *a; } template auto starred<int*>(int* a) -> decltype(*a);
template <class T> auto indexed(T a) -> decltype(a[0]) { return a[0]; } template auto indexed<int*>(int* a) -> decltype(a[0]);
template <class T> auto called(T f) -> decltype(f(1, 2.0f)) { return f(1, 2.0f); } template auto called<int (*)(int, float)>(int (*f)(int, float)) -> decltype(f(1, 2.0f));
template <class T> auto negated(T a) -> decltype(-a) { return -a; } template auto negated<int>(int a) -> decltype(-a);
template <class T> auto inverted(T a) -> decltype(~a) { return ~a; } template auto inverted<int>(int a) -> decltype(~a);
template <class T> auto notted(T a) -> decltype(!a) { return !a; } template auto notted<int>(int a) -> decltype(!a);
template <class T> auto prefixed(T a) -> decltype(++a) { return ++*new T(a); } template auto prefixed<int>(int a) -> decltype(++a);
template <class T> auto postfixed(T a) -> decltype(a--) { return a--; } template auto postfixed<int>(int a) -> decltype(a--);
template <class T> auto chosen(T a, T b) -> decltype(a < b ? a : b) { return *new T(a); } template auto chosen<int>(int a, int b) -> decltype(a < b ? a : b);
template <class T> auto greater(T a, T b) -> std::enable_if_t<(sizeof(T) > 2), int> { return 1; } template auto greater<int>(int, int) -> int;
template <class T> std::enable_if_t<(sizeof(T) >= 4 && alignof(T) <= 8) || !std::is_same<T, int>::value, T> conditional(T x) { return x; } template int conditional<int>(int);
template <class T> typename std::enable_if<std::is_integral<T>::value, T>::type integral(T x) { return x; } template int integral<int>(int);
template <class T> auto cast(T a) -> decltype((float)a) { return a; } template auto cast<int>(int a) -> decltype((float)a);
template <class T> auto staticCast(T a) -> decltype(static_cast<long>(a)) { return a; } template auto staticCast<int>(int a) -> decltype(static_cast<long>(a));
template <class T> auto reinterpreted(T* a) -> decltype(reinterpret_cast<char*>(a)) { return nullptr; } template auto reinterpreted<int>(int* a) -> decltype(reinterpret_cast<char*>(a));
template <class T> auto constCast(const T* a) -> decltype(const_cast<T*>(a)) { return nullptr; } template auto constCast<int>(const int* a) -> decltype(const_cast<int*>(a));
template <class T> auto made(T a) -> decltype(T{1}) { return T{1}; } template auto made<int>(int a) -> decltype(int{1});
template <class T> auto constructed(T a) -> decltype(T(1, 2)) { return T(1, 2); } template auto constructed<std::pair<int, int>>(std::pair<int, int>) -> std::pair<int, int>;
template <class T> auto allocated(T a) -> decltype(new T(1)) { return nullptr; } template auto allocated<int>(int) -> decltype(new int(1));
template <class T> auto placed(T* a) -> decltype(new (a) T) { return nullptr; }
template <class T> auto named(T a) -> decltype(a.template n<int>(3)) {} template auto named<Box<int>>(Box<int> a) -> decltype(a.template n<int>(3));
template <class T> auto scoped(T a) -> decltype(T::s('c')) { return 0; } template auto scoped<ns::inner::S>(ns::inner::S) -> decltype(ns::inner::S::s('c'));
template <class T> void literals(Array<T, sizeof(T) * 2 + 3>, Array<T, (7 % sizeof(T))>) {} template void literals<int>(Array<int, 11>, Array<int, 3>);
template <class... T> Array<int, sizeof...(T)> counted(T...) { return {}; } template Array<int, 3> counted<int, char, float>(int, char, float);
template <class... T> auto folded(T... a) -> decltype((a + ...)) { return (a + ...); } template auto folded<int, int>(int a, int b) -> decltype(a + b);
template <class... T> auto foldedLeft(T... a) -> decltype((... * a)) { return (... * a); } template auto foldedLeft<int, int>(int a, int b) -> decltype(a * b);
template <class... T> auto foldedFrom(T... a) -> decltype((a || ... || false)) { return (a || ... || false); } template auto foldedFrom<int, int>(int a, int b) -> bool;
template <class T> void conditionalThrow(T a, void (*)() noexcept(sizeof(T) == 4)) {} template void conditionalThrow<int>(int, void (*)() noexcept);
template <class T> auto shifted(T a) -> decltype((a << 2) | (a >> 1) & (a ^ 3)) { return a; } template auto shifted<int>(int a) -> int;
template <class T> auto compared(T a) -> decltype(a == a && a != a || a <= a) { return true; } template auto compared<int>(int) -> bool;
template <class T> auto sequenced(T a) -> decltype(a += 1, a %= 2, a) { return *new T(a); } template auto sequenced<int>(int a) -> int&;
template <class T> Array<char, (T::value ? 3 : 4)> valued(T) { return {}; } template Array<char, 3> valued<std::true_type>(std::true_type);
template <class T, class = decltype(std::declval<T>().begin())> void ranged(T) {} template void ranged<std::vector<int>>(std::vector<int>);

// Operators and conversions.
struct Op {
  Op operator+(const Op&) const; Op operator-() const; Op& operator++(); Op operator++(int); Op operator()(int, int) const; int operator[](std::size_t) const;
  bool operator==(const Op&) const; bool operator<(const Op&) const; bool operator!() const; Op* operator->() const; Op& operator*() const; Op operator,(int) const;
  Op& operator=(const Op&); Op& operator+=(int); Op& operator<<=(int); Op operator<<(int) const; Op operator&() const; Op operator->*(int) const; Op operator~() const;
  Op operator&&(int) const; Op operator||(int) const; Op operator%(int) const; Op operator^(int) const; Op operator|(int) const; Op operator&(int) const;
  void* operator new(std::size_t); void* operator new[](std::size_t); void operator delete(void*); void operator delete[](void*);
  operator int() const; operator const char*() const; operator float*() const; explicit operator bool() const; operator Box<int>() const;
  template <class T> operator T*() const; template <class T> operator Box<T>(); template <class T> Op(T); template <class T> bool operator<(T) const; template <class T> Op operator<<(T);
};
Op Op::operator+(const Op&) const { return *this; } Op Op::operator-() const { return *this; } Op& Op::operator++() { return *this; } Op Op::operator++(int) { return *this; }
Op Op::operator()(int, int) const { return *this; } int Op::operator[](std::size_t) const { return 0; } bool Op::operator==(const Op&) const { return 1; } bool Op::operator<(const Op&) const { return 1; }
bool Op::operator!() const { return 1; } Op* Op::operator->() const { return nullptr; } Op& Op::operator*() const { return *(Op*)this; } Op Op::operator,(int) const { return *this; }
Op& Op::operator=(const Op&) { return *this; } Op& Op::operator+=(int) { return *this; } Op& Op::operator<<=(int) { return *this; } Op Op::operator<<(int) const { return *this; }
Op Op::operator&() const { return *this; } Op Op::operator->*(int) const { return *this; } Op Op::operator~() const { return *this; } Op Op::operator&&(int) const { return *this; }
Op Op::operator||(int) const { return *this; } Op Op::operator%(int) const { return *this; } Op Op::operator^(int) const { return *this; } Op Op::operator|(int) const { return *this; } Op Op::operator&(int) const { return *this; }
void* Op::operator new(std::size_t) { return nullptr; } void* Op::operator new[](std::size_t) { return nullptr; } void Op::operator delete(void*) {} void Op::operator delete[](void*) {}
Op::operator int() const { return 1; } Op::operator const char*() const { return ""; } Op::operator float*() const { return nullptr; } Op::operator bool() const { return 1; } Op::operator Box<int>() const { return {}; }
template <class T> Op::operator T*() const { return nullptr; } template <class T> Op::operator Box<T>() { return {}; } template <class T> Op::Op(T) {} template <class T> bool Op::operator<(T) const { return 1; } template <class T> Op Op::operator<<(T) { return *this; }
template Op::operator double*() const; template Op::operator Box<char>(); template Op::Op(float); template bool Op::operator< <char>(char) const; template Op Op::operator<< <int*>(int*);
long double operator""_km(long double x) { return x; } unsigned long long operator""_n(unsigned long long x) { return x; }

// Lambdas, unnamed types, local names.
template <class F> void with(F) {} inline auto stored = [](int a, float* b) { return a; };
struct { int x; } unnamed; typedef struct { int y; } Typed;
void locals() {
  struct Local { void m() {} }; Local().m(); with(Local()); with([](int) {}); with([=](const float*, auto x) {}); enum { a, b }; with(a);
  auto generic = [](auto x, auto... y) { return x; }; generic(1, 2.0f, 'c'); with(generic); struct { int q; } u; with(u); static int counter; ++counter;
  auto nested = [] { auto deeper = [](char) { return 1; }; with(deeper); return deeper('c'); }; nested(); with(nested);
}
template <class T> void localOf(T) { struct Inside { T v; }; with(Inside()); auto l = [](T) {}; with(l); static T kept; kept = T(); l(T()); }
template void localOf<int>(int); template void localOf<Box<float>>(Box<float>);
void usesStored() { with(stored); with(unnamed); with(Typed()); }
namespace { struct Hidden { void m(); }; void Hidden::m() {} template <class T> void secret(T) {} } void usesHidden() { Hidden h; h.m(); with(h); secret(h); secret(1); }
static int internal(int x) { return x + global; } static int table[3]; int usesInternal(int x) { return internal(x) + table[x]; }
inline int initialized(int a = [] { return 3; }()) { return a; } int usesDefault() { return initialized(); }

// The standard library and ABI tags.
void strings(std::string, std::string&, const std::string*, std::vector<std::string>) {}
void standard(std::vector<int>, std::pair<int, float>, std::tuple<int, char, float>, std::allocator<int>, std::initializer_list<int>) {}
std::string tagged() { return ""; } struct __attribute__((abi_tag("v1", "v2"))) Tagged { void m(); }; void Tagged::m() {} __attribute__((abi_tag("x"))) int taggedFunction(Tagged) { return 1; }
struct Base { virtual void v(); virtual ~Base(); }; struct Other { virtual void o(); virtual ~Other(); }; struct Derived : Base, Other { void v() override; void o() override; }; void Base::v() {} Base::~Base() {} void Other::o() {} Other::~Other() {} void Derived::v() {} void Derived::o() {} 
struct VBase { virtual void w(); }; struct VDerived : virtual VBase { void w() override; }; void VBase::w() {} void VDerived::w() {} struct Joined : VDerived, Base {}; Joined joined;
struct Co { virtual Base* c(); }; struct Co2 : Other, Co { Derived* c() override; }; Base* Co::c() { return nullptr; } Derived* Co2::c() { return nullptr; }
thread_local std::string perThread; const std::string& temporary = std::string("x"); inline const std::string& guarded() { static std::string s; return s; } void usesGuarded() { guarded(); perThread += "x"; }
template <class T> constexpr T variableTemplate = T(1); template <class T> T shown = T(); template int shown<int>; template Box<int>* shown<Box<int>*>;
struct Friend { friend void befriended(Friend) {} }; void usesFriend() { befriended(Friend()); }
template <class T> concept Small = sizeof(T) <= 4;
template <class T> struct Substituted { typedef T type; static void f(T*, T&, const T*, Substituted*) {} }; template struct Substituted<Box<int>>;
extern "C" { typedef void callback(int); } void linkage(callback*) {}
