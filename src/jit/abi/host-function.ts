/** A function of the host, whatever it does: numbers for 32 bits and for floats, bigints for 64-bit integers. */
export type HostFunction = (...args: (number | bigint)[]) => number | bigint | void;
