/* How entry points begin: registers and stack become words. %eax: an index; %rax: an address. */
    .text
    .hidden lw_enter_call, lw_enter_local
    .globl lw_enter_call, lw_enter_local
    .type lw_enter_call, @function
    .type lw_enter_local, @function

    .macro save_registers
    pushq %rbp
    movq %rsp, %rbp
    subq $64, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %xmm0, 48(%rsp)
    .endm

lw_enter_call:
    .cfi_startproc
    save_registers
    .cfi_def_cfa %rbp, 16
    .cfi_offset %rbp, -16
    movl %eax, %edi
    movq %rsp, %rsi
    leaq 16(%rbp), %rdx
    call lw_call
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size lw_enter_call, . - lw_enter_call

lw_enter_local:
    .cfi_startproc
    save_registers
    .cfi_def_cfa %rbp, 16
    .cfi_offset %rbp, -16
    movq %rsp, %rdi
    leaq 16(%rbp), %rsi
    call *%rax
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size lw_enter_local, . - lw_enter_local

    .section .note.GNU-stack, "", @progbits
