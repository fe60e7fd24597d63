/** A module with one variable, `total`, and one kernel, `add`, which adds to it. */
export const counterModule = `.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 total = 5;
.visible .entry add(.param .u32 by)
{
    .reg .b32 %v, %s;
    ld.param.u32 %s, [by];
    atom.global.add.u32 %v, [total], %s;
    ret;
}
`;
