/**
 * The beginning of a kernel that uses tensor memory: 64 columns, whose address each warp gets in %l, for its lanes, and
 * in %a, for the block; an mbarrier for one arrival at [%b]; and descriptors in %m and %n of matrices without swizzling
 * at 0 and 0x1000 of shared memory. Predicates: `first` is set in the first warp, p in its first thread.
 */
export const tensorMemory = `    @first tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cell], 64;
    @p mbarrier.init.shared.b64 [%b], 1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    ld.shared.u32 %a, [cell];
    shl.b32 %l, %w, 21;
    add.u32 %l, %l, %a;
    mov.b64 %m, 0x401000080000;
    mov.b64 %n, 0x401000080100;`;
