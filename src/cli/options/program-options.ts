import type { OptionSpec } from "./options.ts";

/** For files that hold several modules, such as executables. */
export const moduleOption: OptionSpec = {
  name: "module",
  value: "NAME",
  help: "the module of a file that has several (`lanewise list` shows them)",
};

/**
 * Options that say what to run: one variant of jobs, or one kernel of a program with arguments from the command line.
 */
export const programOptions: readonly OptionSpec[] = [
  { name: "variant", value: "NAME", help: "run only this variant of each job" },
  {
    name: "kernel",
    value: "NAME",
    help: "the kernel to launch, as in reduce, scale<float> or 'reduce(float*, int)' (default: the only one)",
  },
  moduleOption,
  { name: "grid", value: "X[,Y,Z]", help: "PTX: blocks, as in 16,16 or 16x16 (default: 1)" },
  { name: "block", value: "X[,Y,Z]", help: "PTX: threads per block (default: 1)" },
  {
    name: "cluster",
    value: "X[,Y,Z]",
    help: "PTX: blocks per cluster, as in 2 or 2x2x1 (default: as the kernel says)",
  },
  { name: "shared", value: "BYTES", help: "PTX: dynamic shared memory (default: 0)" },
  { name: "global", value: "X[,Y,Z]", help: "vISA: work items of the launch (default: 1)" },
  { name: "local", value: "X[,Y,Z]", help: "vISA: work items per group (default: 1)" },
  {
    name: "blocks",
    value: "LIST",
    help: "run only these blocks of the grid, as in 0-99 or 7,20-29 (x counts fastest)",
  },
  { name: "zeinfo", value: "FILE", file: "read", help: "vISA: the section .ze_info of the compiled program, as YAML" },
  {
    name: "section",
    value: "NAME=FILE",
    repeats: true,
    file: "read",
    fileIn: /^[^=]+=(.+)$/s,
    help: "vISA: another section, as in .data.const=FILE",
  },
  {
    name: "symbol",
    value: "NAME=VALUE",
    repeats: true,
    file: "read",
    fileIn: /^[^=]+=(?:\w*|texture:|surface:)@(.+?)(?:,[a-z]+(?:=[^,]*)?)*$/s,
    help: "PTX: what a variable holds before the launch, as in coeff=1,2,3 or coeff=@x.npy; vISA: where a name lies, as in table=.data.const+64",
  },
  { name: "relocation", value: "PLACE=NAME", repeats: true, help: "vISA: the name whose address a section holds" },
  {
    name: "input",
    value: "NAME=KIND",
    repeats: true,
    help: "vISA without .ze_info: what an .input holds (see below)",
  },
  {
    name: "arg",
    value: "VALUE",
    repeats: true,
    file: "read",
    fileIn: /^(?:\w*|texture:|surface:|image:)@(.+?)(?:,[a-z]+(?:=[^,]*)?)*$/s,
    help: "an argument, in the order of the kernel's parameters",
  },
  { name: "schedule", value: "CHOICES", help: "run under this schedule, as run --explore names it" },
  { name: "isa", value: "NAME", help: "ptx or visa (default: by the file's name)" },
];

/** The usage lines of a command that runs programs. */
export const programUsage = (command: string): readonly string[] => [
  `${command} JOB.json… [--variant NAME]`,
  `${command} FILE… [--kernel K] --grid SIZE --block SIZE --arg VALUE…`,
  `${command} FILE.visaasm… --zeinfo FILE [--kernel K] --global SIZE --local SIZE --arg VALUE…`,
  `${command} FILE.visaasm… --input NAME=KIND… [--kernel K] --global SIZE --local SIZE --arg VALUE…`,
];

/** The files that hold programs, as help lists them. */
export const packedFiles =
  "executables, shared objects, objects, archives (.a), fat binaries (.fatbin) and the text of `cuobjdump -ptx`, which hold PTX; .cu, which nvcc or clang++ compiles; folders and ZIP archives of IGC's dumps and binaries of ocloc, which hold vISA";

export const programDetails = `Arguments:
  42  -1  0xff  1.5        a number of the parameter's type
  u64:0xff  f32:1e-3       a number with an explicit type
  f32[1024]                a buffer of zeros
  f32[]=1,2,3              a buffer with these values
  f32[1024]=iota           0, 1, 2, ...; also =iota:START, =fill:VALUE, =lcg:SEED
  @x.npy  f32@x.bin        a buffer with the contents of a file
  {f32:1, u64:2}           a struct by value; f32[16]=iota in it is a pointer to a buffer
  bytes:00ff  bytes@x.bin  bytes by value
  f32v:1,2,3,4             a vector by value
  texture:@x.png           a texture; texture:f32x4[64x32]=iota,filter=linear,address=wrap of a new buffer
  surface:u8x4[640x480]    a surface; texture:2 and surface:2 are of the image of argument 2
  sampler:filter=linear    a sampler
  image:u8x4[640x480]      vISA: an image
  local:1024               vISA: bytes of local memory
Variables (--symbol NAME=VALUE):
  42  1,2,3                numbers of the declared type, from the first element on
  f32:1,2,3                of another type, which arrays and structs from compilers need
  @x.npy  @x.bin           the contents of a file; also f32[4]=iota and the like
Types: u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64

The files of a vISA program are .visaasm, .isaasm or .isa: the kernel first, then the functions that it calls. Its .ze_info, which compilers put into their binaries, says where arguments go. For kernels written by hand, --input says what their inputs hold, in the order of the arguments:
  --input OUT=arg          the next argument, a buffer
  --input N=arg:u32        the next argument, a number
  --input ID=lane-id       the index of each lane's work item
  --input STK=stack:4096   the address of that many bytes of private memory`;
