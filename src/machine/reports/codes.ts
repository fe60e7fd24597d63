import type { Catalogue } from "../../source/index.ts";

/** What can go wrong while a kernel runs: faults, which end the launch, and what sanitizers see. */
export const reportCodes = {
  "aligned-divergence": {
    title: "an instruction for the whole warp is executed by some of its threads",
    page: "`ldmatrix`, `stmatrix`, `movmatrix`, `mma` and other instructions with `.sync.aligned` are executed by a warp as one: all 32 threads must come to the same instruction, with the same qualifiers, and none may have exited. Here some threads have exited, are kept from it by a guard, or wait elsewhere and never come. Move the instruction out of the code that only some threads reach; let threads with nothing to do take part, with zeros. `wgmma` needs all threads of a warpgroup: four warps, of which the first one's number is a multiple of four.\n\nWrong is `@p ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r}, [a];` where `p` holds in some threads. Right is `ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r}, [a];` in all of them, and `@p` at what uses the result.",
    section: "9.7.14.5.15",
  },
  "async-in-flight": {
    title: "memory or registers are accessed while an asynchronous operation may still be using them",
    page: "`cp.async` only starts a copy: it is complete when the thread that issued it has waited for it, with `cp.async.wait_group` after a `cp.async.commit_group`, with `cp.async.wait_all`, or at an mbarrier that tracks it. No other instruction waits for it, no barrier either. Until then the destination must not be read or written, nor the source be written. Without `--seed` the machine performs copies at once, so that the values may look right here; on a GPU they are a matter of luck.\n\nBulk and tensor copies into shared memory are complete when a wait at their mbarrier has succeeded; those to global memory when `cp.async.bulk.wait_group` has waited for their group, whose `.read` form only lets the source be written again. A block must not end before its bulk copies have read its shared memory, as that belongs to another block then. In a pipeline, `wait_group N` leaves the N newest groups pending: a last round that commits no group leaves one too many.\n\nWrong is `cp.async.ca.shared.global [d], [s], 4; bar.sync 0; ld.shared.u32 x, [d];`. Right is `cp.async.ca.shared.global [d], [s], 4; cp.async.wait_all; bar.sync 0; ld.shared.u32 x, [d];`: threads that read what others have copied need both, the wait of those and then a barrier.\n\nIt is the same with `wgmma.mma_async`: from there to the `wgmma.wait_group` for its group (`wgmma.commit_group`) no other instruction may access the accumulators, nor write registers that hold parts of A.",
    section: "9.7.9.25.3.3",
  },
  "bad-handle": {
    title: "a texture, surface or sampler is used that does not exist",
    page: "`tex`, `tld4`, `txq`, `suld`, `sust`, `sured` and `suq` take a handle of 64 bits, which the host makes (`cudaCreateTextureObject`; here a job's `texture` or `surface` argument, or `image.texture()` in the library), or the address of a `.texref`, `.samplerref` or `.surfref` variable in which the host has put one. The message says what the value is: none, a handle that has been freed, one whose memory has been freed, or that of another kind of object. Usual causes: the address of a buffer is passed where a texture object is wanted, arguments are in another order, a variable has not been bound.\n\nWrong is `tex.2d.v4.f32.f32 ..., [%rd1, {%f1, %f2}];` where `%rd1` is the address of the texels. Right is the handle of a texture over them.",
    section: "9.7.10.3",
  },
  "barrier-bad-count": {
    title: "the thread count of a barrier is not possible",
    page: "The count of a barrier instruction must be a multiple of the warp size, 32, because arrivals are counted by warp; `arrive` needs one that is not 0. All warps that take part in one round of a barrier must give the same count, or all of them none. Round the number of participating threads up to a multiple of 32. In vISA hardware threads are counted: from 1 to those of the group.",
    section: "9.7.13.1",
  },
  "barrier-bad-id": {
    title: "there is no barrier with this number",
    page: "A block has sixteen barriers, numbered 0 to 15; a vISA thread group has 32. The number came from a register: look for how it is computed.",
    section: "9.7.13.1",
  },
  "barrier-divergence": {
    title: "not all lanes of a warp come to a barrier together",
    page: "`bar.sync`, `bar.red`, `bar.arrive`, and `barrier` and `barrier.cluster` with `.aligned`, promise that all threads of the warp execute the same instruction. Here some lanes stand at this barrier and the others at another one, usually because the barrier is inside a conditional or a loop that not all lanes go through alike. Move it out of the divergent code, or use `barrier.sync` or `barrier.cluster` without `.aligned`. The run goes on as if the warp had arrived; a GPU may hang. In vISA `barrier` must not stand in divergent control flow at all: the thread arrives once for every group of lanes that comes to it.",
    section: "9.7.13.1",
  },
  "brx-index-out-of-range": {
    title: "brx.idx or switchjmp is given an index beyond its list",
    page: "`brx.idx` takes the label with that index from its `.branchtargets` list, counting from 0; the index is unsigned, so -1 is 4294967295. Behaviour is undefined if the index is not less than the length of the list. Compare it first, and branch elsewhere when it is too large. The same holds for vISA's `switchjmp`, whose index is a byte without sign.",
    section: "9.7.12.4",
  },
  "bulk-bad-size": {
    title: "a bulk operation of a size that it cannot have",
    page: "`cp.async.bulk` and `cp.reduce.async.bulk` copy whole chunks of 16 bytes: the size must be a multiple of 16, and both addresses must be, too (`misaligned-access`). Round the size up and make room for the rest at both ends, or copy the last bytes with ordinary loads and stores. An mbarrier must then expect the rounded number of bytes.\n\nWrong is `mov.u32 n, 100; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [d], [s], n, [m];`. Right is a size of 112.\n\n`st.bulk` clears a multiple of 8 bytes, up to 16777216.",
    section: "9.7.9.25.4.1",
  },
  "call-size-mismatch": {
    title: "a call passes other sizes than the function declares",
    page: "The sizes at the end of `fcall` and `ifcall` count registers of %arg and of %retval. They must be those that the function declares with ArgSize and RetValSize: otherwise one side reads registers that the other has not filled. For `ifcall` this is known only when the address is; the launch ends at the call, before the function starts. A run makes an `fcall` all the same, with a warning when the program is loaded, as IGC writes some that differ in registers which nobody reads; `lanewise check` reports it as an error.",
  },
  "cluster-bad-rank": {
    title: "an address is for a block that the cluster does not have",
    page: "`mapa` has mapped an address of shared memory to a rank that is not less than `%cluster_nctarank`, and the address is used. A cluster of n blocks has the ranks 0 to n - 1, whatever its shape; a launch without cluster dimensions has clusters of one block. Compute the rank modulo `%cluster_nctarank`, or launch with the cluster that the kernel expects (`--cluster`, `cluster` in a job and in the library, or `.reqnctapercluster` in the program).\n\nWrong is `mapa.shared::cluster.u32 b, a, 2; ld.shared::cluster.u32 x, [b];` in a cluster of two blocks. Right is a rank of 0 or 1, as in `mov.u32 r, %cluster_ctarank; xor.b32 r, r, 1; mapa.shared::cluster.u32 b, a, r;` for the other one.",
    section: "9.7.9.23",
  },
  "cluster-barrier-misuse": {
    title: "arrivals and waits at the barrier of a cluster do not alternate",
    page: "Each thread of a cluster arrives with `barrier.cluster.arrive`, then waits with `barrier.cluster.wait`, and only then may arrive again. A wait without an arrival before it does not know which phase it is for; a second arrival counts for a phase that other threads have not left. Look for a branch in which one of the two is left out.\n\nWrong is `barrier.cluster.wait;` alone. Right is `barrier.cluster.arrive; barrier.cluster.wait;`.",
    section: "9.7.13.3",
  },
  "const-out-of-bounds": {
    title: "an access to constant memory is outside every variable",
    page: "The address is in constant memory, but in no `.const` variable, or the access reaches past a variable's end. The message names the nearest variable and the distance.",
    section: "5.1.3",
  },
  "data-race": {
    title: "two threads access the same memory without order, and one of them writes",
    page: "Nothing makes one of the accesses happen before the other, so what is read, or which value stays, is a matter of luck. The report names both accesses. Threads of a block are ordered by `bar.sync`, lanes of a warp by `bar.warp.sync` and by nothing else: not by running in step, and not by shuffles or votes. Blocks are ordered by a value that one writes with `.release` (or after a fence) and the other reads with `.acquire` (or before one), in a scope that includes both. Accesses that are atomic or `.relaxed` on both sides do not race.\n\nWrong is `st.shared.u32 [a], x; ld.shared.u32 y, [a+4];`, where a neighbour stores at a+4. Right is `st.shared.u32 [a], x; bar.sync 0; ld.shared.u32 y, [a+4];`.",
    section: "8.7.1",
  },
  deadlock: {
    title: "no thread of a block can go on",
    page: "Every thread that has not ended waits: at a barrier of its block or cluster, at a warp-wide operation, for other lanes of its warp, for the phase of an mbarrier, or for free columns of tensor memory. The notes say who waits where, and for what. Usual causes: a barrier that not all threads reach, a count that is larger than the number of threads that come, a member mask that names lanes that are elsewhere.\n\nA phase of an mbarrier ends when all arrivals that `mbarrier.init` has announced and all bytes that `expect_tx` has announced have come. If bytes are missing, more were announced than the copies bring: compare `expect_tx` with the size of the copy, or the box of the tensor map. If arrivals are missing, the count of `mbarrier.init` is larger than the number of threads that arrive, or those that should are waiting themselves, as in a ring of stages whose consumers and producer wait for the wrong parity. `lanewise debug` stops before the deadlock, and `info mbarriers` shows what each one waits for.\n\nWrong is `@first mbarrier.arrive.expect_tx.shared.b64 s, [m], 1024;` for a copy of 512 bytes. Right is `@first mbarrier.arrive.expect_tx.shared.b64 s, [m], 512;`.",
    section: "9.7.13.1",
  },
  "dsmem-after-exit": {
    title: "shared memory of another block is accessed, and that block does not run",
    page: "The shared memory of a block exists from its beginning until its last thread exits: then the memory may belong to another block. A block whose memory others of the cluster access must stay until they have done so, and before the first access all must have begun: both are what `barrier.cluster.arrive` and `barrier.cluster.wait` are for (`cluster.sync()` in CUDA), once at the beginning and once before the end. Asynchronous stores and remote arrivals at mbarriers are accesses like any others.\n\nWrong is `mapa.shared::cluster.u32 b, a, r; ld.shared::cluster.u32 x, [b]; ret;`. Right is `mapa.shared::cluster.u32 b, a, r; ld.shared::cluster.u32 x, [b]; barrier.cluster.arrive; barrier.cluster.wait; ret;`.",
    section: "9.7.13.3",
  },
  "divergent-call-address": {
    title: "lanes of one call have different addresses",
    page: "The address of `ifcall` is a scalar: the hardware thread has one instruction pointer, and goes to one function. Here the operand is a vector whose elements differ. Go through the different addresses in a loop, and call with the lanes that have the same one.",
  },
  "divergent-uni": {
    title: "an instruction with .uni is executed by lanes that do not agree",
    page: "`.uni` on `bra`, `brx.idx`, `call` and `ret` promises that all active threads of the warp that execute the instruction have the same guard predicate and go to the same target. A compiler may make wrong code where the promise is broken. Leave `.uni` out, or make the condition uniform.",
    section: "9.7.12.5",
  },
  "division-by-zero": {
    title: "the unspecified result of a division by zero is used",
    page: "Integer `div` and `rem` by zero yield an unspecified value that depends on the machine; there is no trap. It does no harm where the result is not used: the report stands at the division, if a branch, an address or what others see comes to depend on its result, and a note says which. Test the divisor first, or select another result.",
    section: "9.7.1.8",
  },
  "falls-off-end": {
    title: "lanes come to the end of a routine's text",
    page: "A vISA kernel or subroutine is left by `ret`, a function by `fret`. Here the last return has a predicate, and lanes for which it is not set go on after it, where nothing is that belongs to the routine. End it with a return for all lanes.",
  },
  "global-out-of-bounds": {
    title: "an access to global memory is outside every allocation",
    page: "The address is in no allocation, or the access reaches past an allocation's end. The message names the nearest allocation and the distance: a small distance after it is mostly an index that is too large (a missing test against the length), a large one an address that was computed wrongly or never set.",
    section: "5.1.4",
  },
  "indirect-call-bad-address": {
    title: "an indirect call goes to what is not the start of a function",
    page: "The register holds neither null nor the address of a function: it lies inside of one, in data, or nowhere. Function addresses come from `mov` of a function's name (in vISA from `faddr`) or from an initialised table, and no arithmetic is defined on them. A kernel's address cannot be called.",
    section: "9.7.12.5",
  },
  "indirect-call-not-in-calltargets": {
    title: "an indirect call goes to a function that its list leaves out",
    page: "The list of an indirect call, a `.calltargets` directive or a table of functions, is complete by definition: a compiler may rely on no other function being called, for instance in its calling convention. Add the function to the list, or use a `.callprototype`.",
    section: "9.7.12.5",
  },
  "indirect-call-null": {
    title: "an indirect call goes to null",
    page: "The register that holds the function's address is 0: a table entry without initializer, a pointer that was never set, or a load from the wrong place.",
    section: "9.7.12.5",
  },
  "image-mismatch": {
    title: "an image is not what the instruction takes it for",
    page: "The opcode says how many dimensions an image has, whether it is an array (`.a1d`, `.a2d`), a cube or a multi-sample image, and whether its texels are floats or integers: `tex.2d.v4.f32.f32` is for images of two dimensions whose texels are floats, or integers that are read as fractions; `.u32` and `.s32` are for integers. The message says what the image is. On a GPU the result would be texels from elsewhere, or bits that mean nothing. Make the image as the program expects it, or call another function (`tex2DLayered` for arrays, `tex2D<int>` for integers).\n\nWrong is `tex.2d.v4.s32.f32 ...` of an image with texels of type f32. Right is `tex.2d.v4.f32.f32 ...`.",
    section: "9.7.10.3",
  },
  "indirect-call-prototype-mismatch": {
    title: "an indirect call goes to a function with another signature",
    page: "If a function is called that does not match the call's `.callprototype`, behaviour is undefined: arguments and results are not where the callee and the caller look for them. Parameters match if number, size, alignment and kind agree; signed, unsigned and untyped integers of a size are one kind, and untyped goes with floating point too.",
    section: "9.7.12.5",
  },
  "local-out-of-bounds": {
    title: "an access to local memory is outside every variable",
    page: "The address is on the thread's stack, but in no variable of a function that is being executed and in nothing that `alloca` gave, or the access reaches past the end of one. A pointer to a variable is good only until its function returns.",
    section: "5.1.5",
  },
  "mbarrier-bad-count": {
    title: "the count of an mbarrier is not possible",
    page: "`mbarrier.init` takes the number of arrivals that each phase expects, from 1 to 1048575 (2^20 - 1), and an arrival with a count as many at most. A count of 0 mostly comes from a division, or from a number of threads or warps that was computed for another block size.\n\nWrong is `shr.u32 n, threads, 5; mbarrier.init.shared.b64 [m], n;` in a block of 16 threads. Right is `add.u32 n, threads, 31; shr.u32 n, n, 5; mbarrier.init.shared.b64 [m], n;`.",
    section: "9.7.13.15.2",
  },
  "mbarrier-count-overflow": {
    title: "more arrives at an mbarrier than its phase waits for",
    page: "An arrival takes its count from the arrivals that are pending, and cannot take more than there are: the phase would be complete before all have come. Its count is too large, or that of `mbarrier.init` too small, or others have arrived for it: look for a count of bytes or threads where arrivals are counted. An arrival of 1 too many is not seen here, as it counts for the next phase, which is then complete too early: wait for a phase before you arrive for the one after it. The same is reported where transactions (bytes) exceed what the object can count, 1048575 in either direction.\n\nWrong is `@first mbarrier.init.shared.b64 [m], 2; bar.sync 0; @first mbarrier.arrive.shared.b64 s, [m], 3;`. Right is `@first mbarrier.init.shared.b64 [m], 3; bar.sync 0; @first mbarrier.arrive.shared.b64 s, [m], 3;`.",
    section: "9.7.13.15.2",
  },
  "mbarrier-no-complete": {
    title: "an arrival that must not complete a phase completes it",
    page: "`mbarrier.arrive.noComplete` and `mbarrier.arrive_drop.noComplete` promise that others still have to arrive. Here nothing is pending after the arrival. Leave one arrival to an `mbarrier.arrive` without the modifier.\n\nWrong is `@first mbarrier.init.shared.b64 [m], 1; bar.sync 0; @first mbarrier.arrive.noComplete.shared.b64 s, [m], 1;`. Right is `@first mbarrier.arrive.shared.b64 s, [m];` for the last one.",
    section: "9.7.13.15.13",
  },
  "mbarrier-uninitialized": {
    title: "there is no mbarrier where one is used",
    page: "Every operation on an mbarrier but `mbarrier.init` needs an object at the address. None has been made there, `mbarrier.inval` has ended it, or something has written over its 8 bytes. Mostly the thread that executes `mbarrier.init` has not done so yet: it needs a barrier after it (`bar.sync`) before other threads use the object.\n\nRight is `@first mbarrier.init.shared.b64 [m], 64; bar.sync 0; mbarrier.arrive.shared.b64 s, [m];`.",
    section: "9.7.13.15.9",
  },
  "mbarrier-fence-missing": {
    title: "an mbarrier of another block is used, and nothing orders its initialization before that",
    page: "An mbarrier is initialized by an ordinary write, which the other blocks of the cluster need not see before something makes it visible to them: a remote `mbarrier.arrive`, a multicast copy that completes on it, or `tcgen05.commit` for several blocks may find on a GPU what was in its place before. The thread that initializes mbarriers executes `fence.mbarrier_init.release.cluster` after the last one, and all threads of the cluster then meet: `barrier.cluster.arrive.relaxed` and `barrier.cluster.wait`. Without `.relaxed` the arrival is a release itself, and needs no fence. A barrier of the block alone (`bar.sync`) says nothing to other blocks. The machine has one view of memory, so that the mbarrier is as expected here.\n\nWrong is `mbarrier.init.shared.b64 [m], 2; barrier.cluster.arrive.relaxed; barrier.cluster.wait; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [other];`. Right is `mbarrier.init.shared.b64 [m], 2; fence.mbarrier_init.release.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [other];`.",
    section: "9.7.13.4",
  },
  "memory-leak": {
    title: "memory that device code has taken is never freed",
    page: "What a kernel takes with `malloc` stays taken when it ends, for the kernels after it. Here a job has come to its end, and nothing has freed it: the heap of a device is small (8 MB unless the program asks for more), and a program that runs on finds it empty one day. The report stands at the call of `malloc`, one for all that it gave. Right is `call (p), malloc, (n); ... call free, (p); ret;`, or a later kernel that frees it.",
  },
  "misaligned-access": {
    title: "an address is not a multiple of the size of the access",
    page: "An address must be naturally aligned: to a multiple of the access size, which for a vector is that of the whole vector (16 bytes for `.v4.u32`). On a GPU the launch ends with a misaligned address error.",
    section: "6.4.1",
  },
  "no-progress": {
    title: "the launch did not end within its limit",
    page: "The launch used up the thread-instructions (`--max-steps`) or the time (`--timeout`) that it was given. The position is where a thread was when it ended, mostly the jump of a loop: one that waits for what never comes, or one that only needs more time.",
  },
  "noreturn-returned": {
    title: "a function that is declared .noreturn returns",
    page: "`.noreturn` promises that the function does not return to its caller, so there need not be any code after the call. End the function with `exit` or `trap`, or leave the directive out. In vISA the call says so: `ifcall.noreturn`.",
    section: "11.4.6",
  },
  "not-executable": {
    title: "the kernel can come to an instruction that is not modelled",
    page: "The instruction is parsed and checked, but cannot be executed yet; or a function without a body is called that the machine does not provide. The launch is refused before anything runs, because half a result would be worse than none. `lanewise isa` lists what can be executed.",
  },
  "null-dereference": {
    title: "memory is accessed at or near address 0",
    page: "Addresses below 4096 belong to no memory: the pointer is null, and the offset is that of a member or an element. Look for a parameter that was not set, an allocation that failed, or the end of a list.",
  },
  "param-out-of-bounds": {
    title: "an access to a parameter is outside of it",
    page: "The address is in no parameter, or the access reaches past the end of one. The last parameter of a function may be an array without a size: it is as large as the argument of the call, and empty if the call leaves it out.",
    section: "11.2.2",
  },
  "register-out-of-bounds": {
    title: "an operand reaches outside the registers of its function",
    page: "An indirect operand takes its place from an address register, and the address lies in no variable, or not in the one whose address was taken for it: the base was never set, or the offset is too large. What is read there is 0 here and what is written is lost; a GPU takes whatever register that is.",
  },
  "proxy-fence-missing": {
    title: "asynchronous operations read what ordinary stores have written, without a proxy fence",
    page: "Ordinary loads and stores go through the generic proxy; bulk and tensor copies, `wgmma` and `tcgen05` read shared memory through the async proxy (section 8.6), which on a GPU may not see what a store has just written, whatever barriers stand between. The thread that stores must execute `fence.proxy.async` after the store and before it meets, at a barrier, the thread that issues the operation. The machine has one view of memory, so that the values are right here.\n\nWrong is `st.shared.u32 [a], x; bar.sync 0; cp.async.bulk.global.shared::cta.bulk_group [g], [a], 16;`. Right is `st.shared.u32 [a], x; fence.proxy.async.shared::cta; bar.sync 0; cp.async.bulk.global.shared::cta.bulk_group [g], [a], 16;`.",
    section: "9.7.13.4",
  },
  "shared-out-of-bounds": {
    title: "an access to shared memory is outside every variable",
    page: "The address is in no `.shared` variable of the block, nor in the dynamic shared memory that the launch asked for, or the access reaches past the end. If the nearest is the dynamic part, the launch may have to ask for more bytes.",
    section: "5.1.7",
  },
  "shfl-inactive-source": {
    title: "a shuffle reads from a lane that does not take part",
    page: "The value of a lane that does not execute the shuffle, because it has ended, went another way, or its predicate is false, is unpredictable. Let all lanes that are read from execute the instruction, or choose the clamp and segment mask so that they are out of range.",
    section: "9.7.9.6",
  },
  "sparse-bad-metadata": {
    title: "the metadata of a sparse matrix is not possible",
    page: "`mma.sp` multiplies a matrix A of which half of the elements of each chunk are present; four bits of metadata for each chunk say where they are, as two indices of two bits. The indices must differ, and with `.sp::ordered_metadata` the lower one must come first: 0b0100, 0b1000, 0b1001, 0b1100, 0b1101 and 0b1110 are possible. For `.tf32` only 0b0100 (the first of two elements) and 0b1110 (the second) are. The sparsity selector, the last operand, names the threads of each four that have metadata: 0 to 3 if it is one of them, 0 or 1 if it is two, 0 if all four have some. Often metadata is loaded by the wrong threads, or in the order of other element sizes.\n\nWrong is metadata of 0 for `mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, which takes each first element twice. Right is 0x44444444, which takes the first two of each four.",
    section: "9.7.14.6.1",
  },
  "stack-overflow": {
    title: "a thread's stack is full",
    page: "Frames, saved registers and `alloca` together are larger than the stack, which has at most 512 KiB for a thread. A vISA thread may have 16384 activations at once, if those of all threads take 512 MiB at most. Mostly a recursion does not end; the call stack of the report shows which.",
    section: "9.7.17.3",
  },
  "stack-imbalance": {
    title: "a function returns with another stack pointer than it was given",
    page: "%sp goes into a vISA function and comes back from it. What the function takes from the stack it must give back before `fret`, or the caller's frame lies elsewhere afterwards, and each further call moves it again. The message gives both values.",
  },
  "surface-out-of-bounds": {
    title: "an access to a surface with .trap is outside of it",
    page: "`suld`, `sust` and `sured` with `.trap` (`cudaBoundaryModeTrap`, the default in CUDA C++) must stay inside the surface; the launch ends where one does not. The first coordinate counts bytes, except for `.p`, the others rows, slices and layers. Most often x was not multiplied by the size of an element, or the grid is larger than the image and a thread outside is not kept away. With `.zero` such an access reads 0 or stores nothing, with `.clamp` it goes to the nearest element.\n\nWrong is `surf2Dwrite(v, s, x, y)` for floats. Right is `surf2Dwrite(v, s, x * sizeof(float), y)`.",
    section: "9.7.11.1",
  },
  "surface-unbound": {
    title: "an access goes through a surface that the launch has not bound",
    page: "The index of the binding table, in a T variable or in the instruction, belongs to no argument of the kernel. Look for the `movs` that sets the variable, and for the binding table indices in the .ze_info section.",
  },
  "sync-mask-excludes-self": {
    title: "a lane executes a warp-wide operation whose member mask leaves it out",
    page: "The behaviour of `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync` is undefined if the executing thread is not in the mask. Compute the mask from the lanes that really come there, before the branch (`vote.sync.ballot`), not by guess.",
    section: "9.7.13.2",
  },
  "tcgen05-bad-columns": {
    title: "tensor memory cannot be allocated in this number of columns",
    page: "`tcgen05.alloc` and `tcgen05.dealloc` take a number of columns that is a power of two from 32 to 512. For a matrix with 96 columns allocate 128, and free 128 later.\n\nWrong is `mov.u32 n, 96; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [p], n;`. Right is `mov.u32 n, 128; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [p], n;`.",
    section: "9.7.16.7.1",
  },
  "tcgen05-bad-dealloc": {
    title: "tensor memory is freed that is not allocated",
    page: "`tcgen05.dealloc` needs the address that `tcgen05.alloc` has written, and the same number of columns. Here there is no such allocation: it is free already, the number is another one, or the address was computed for a tile inside it.\n\nWrong is `ld.shared.b32 t, [p]; add.u32 t, t, 32; tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 32;` after 64 columns were allocated. Right is `ld.shared.b32 t, [p]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 t, 64;`.",
    section: "9.7.16.7.1",
  },
  "tcgen05-bad-descriptor": {
    title: "a descriptor of a matrix or an instruction means nothing",
    page: "`tcgen05.mma` and `tcgen05.cp` take shapes, types and layouts from numbers in registers, which nothing checks before they run: the descriptor of the instruction (types, M, N, which matrices are transposed) and those of matrices in shared memory (address, strides, swizzle). The message says which field has a value that the manual does not know, or does not allow with this kind of product. On a GPU the result would be undefined.\n\nWrong is a descriptor of the instruction with M = 128 and N = 8, a 1 in bits 17 to 22, which count eights: with 128 rows N is a multiple of 16. Right is a 2 there, for N = 16.",
    section: "9.7.16.4",
  },
  "tcgen05-divergent-operand": {
    title: "the lanes of a warp give different operands where one is needed",
    page: "`tcgen05.alloc`, `tcgen05.dealloc`, `tcgen05.ld` and `tcgen05.st` are executed by a whole warp, and act once: all lanes must give the same address and the same number of columns. An address that each lane computes from its index is not needed: the lanes of tensor memory follow from those of the warp.\n\nWrong is `add.u32 a, t, %laneid; tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [a];`. Right is `tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [t];`, which gives lane i of the warp what is in lane i of its quarter.",
    section: "9.7.16.8.3",
  },
  "tcgen05-no-peer": {
    title: "an operation is for a pair of blocks, and the other block is not there",
    page: "Instructions of `tcgen05` with `.cta_group::2` are for a pair: two blocks of a cluster whose `%cluster_ctarank` differs in the last bit. Here the cluster has no such block, as it has one block or an odd number of them, or the other has exited. Launch with a cluster of an even number of blocks (`--cluster 2`, or `.reqnctapercluster 2` in the program), and let both blocks meet at `barrier.cluster` before they exit. `tcgen05.alloc`, `tcgen05.dealloc` and `tcgen05.relinquish_alloc_permit` have to be executed by a warp of each.\n\nWrong is `tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [p], 32;` in a kernel that is launched without clusters. Right is the same with `.reqnctapercluster 2` at the kernel, or `tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [p], 32;` for one block.",
    section: "9.7.16.5",
  },
  "tcgen05-no-permit": {
    title: "tensor memory is allocated after the right to do so was given up",
    page: "After `tcgen05.relinquish_alloc_permit` no thread of the block may execute `tcgen05.alloc`: other blocks then can. Move it to after the last allocation.\n\nWrong is `tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [p], 32;`. Right is the same in the other order.",
    section: "9.7.16.7.1",
  },
  "tcgen05-not-freed": {
    title: "a block ends and has not freed its tensor memory",
    page: "What a block allocates with `tcgen05.alloc` it must free with `tcgen05.dealloc` before it exits: on a GPU the columns would be missing for the blocks after it, and their allocations would wait forever. The report stands at the first allocation that was not freed. Right is `tcgen05.alloc ... [p], 64; ... ld.shared.b32 t, [p]; tcgen05.dealloc ... t, 64; ret;`, in one warp, after all others have finished with the columns.",
    section: "9.7.16.7.1",
  },
  "tcgen05-out-of-bounds": {
    title: "an access to tensor memory where the block or the warp has none",
    page: "Tensor memory has 128 lanes and 512 columns for each block, of which those columns can be used that the block has allocated. A warp reaches a quarter of the lanes with `tcgen05.ld` and `tcgen05.st`: warp 1 lanes 32 to 63, and so does warp 5. An address has the lane in its upper 16 bits and the column in the lower ones: add `(warp % 4) * 32 << 16` to the address of the allocation. The matrices of `tcgen05.mma` begin at lane 0, with M = 64 also at lane 16.\n\nWrong is `tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [t];` in warp 1, with `t` as `tcgen05.alloc` has written it. Right is `add.u32 u, t, 0x200000; tcgen05.ld.sync.aligned.32x32b.x1.b32 {r}, [u];`: 32 in the upper 16 bits.",
    section: "9.7.16.8.1",
  },
  "tensormap-invalid": {
    title: "the tensor map of a tensor copy is none, or does not fit",
    page: "`cp.async.bulk.tensor` takes the address of a tensor map: 128 bytes that cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col has made (here a job's `tensormap` argument or `device.tensorMap`), or that a kernel has completed with `tensormap.replace`. What is there is no tensor map, is one that the driver would refuse, or is for another rank or mode than the instruction's. The message says which field is wrong. Requirements are those of the driver: strides and the address are multiples of 16, a box has 1 to 256 elements in each dimension, its inner row is a multiple of 16 bytes and not wider than the swizzle, at most 5 dimensions.\n\nUsual causes: a map that is passed by address instead of by value (`const __grid_constant__ CUtensorMap`), a kernel that replaces some of the fields of memory that holds no map, and dimensions given slowest first.\n\nWrong is `tensormap.replace.tile.global_dim.global.b1024.b32 [m], 0, n;` and then a copy, where `m` has never held a map. Right is to copy to `m` the 128 bytes of a map that is an argument, to replace fields of those, and `fence.proxy.tensormap::generic` before the copy.",
    section: "5.5.8",
  },
  trap: {
    title: "the kernel executed trap",
    page: "`trap` ends the launch with an error. Compilers put it where control must not come, and programs where a check fails.",
    section: "9.7.19.4",
  },
  "operand-out-of-range": {
    title: "an operand is outside the values for which the instruction is defined",
    page: "The manual leaves the result open for this value of an operand. It does no harm where the result is not used.",
  },
  "uninitialized-read": {
    title: "a value is used that was never written",
    page: "A register, a predicate, a shared or local variable or a parameter is read before anything has been stored in it; in vISA also `%arg` after what a call passes or after the call, and `%retval` after what it returns or in a lane that did not call. What it holds is unspecified; here it is mostly 0, on a GPU it is what was there before. The report stands where the place is read first, and a note says what came to depend on it: a branch, an address, a stored value. Values of which nothing comes are not reported.",
  },
  "use-after-free": {
    title: "an access to memory that has been freed",
    page: "The address was in an allocation that has been freed in the meantime. On a GPU the memory may belong to something else by then.",
  },
  "wgmma-missing-fence": {
    title: "a warpgroup multiplies registers that no wgmma.fence has ordered",
    page: "`wgmma.mma_async` accesses its accumulators, and A if it is in registers, at some time of its own. `wgmma.fence` makes earlier accesses to these registers come first: one must be executed before the first product of a warp, and between any other instruction that accesses the registers and the product. Products of the same shape that follow each other in the same accumulators need none in between; products of other shapes do. The machine performs products where they are issued, so that the values look right here; on a GPU they are undefined.\n\nWrong is `mov.f32 d0, 0f00000000; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3}, a, b, 1, 1, 1, 0, 0;`. Right is a `wgmma.fence.sync.aligned;` between the two.",
    section: "9.7.15.7.1",
  },
  "wrong-state-space": {
    title: "an address of one state space is used in another",
    page: "`ld.shared` and its like take addresses within their space, and instructions without a space take generic ones: `cvta` and `cvta.to` convert between them. Here the address belongs to another space, or is generic where it must not be, or the space cannot be written (constants, kernel parameters) or holds no data (functions).",
    section: "9.7.9.20",
  },
} as const satisfies Catalogue;
