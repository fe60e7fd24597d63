/** The version of PTX that random modules have: the newest, which has almost all forms. */
export const version = { text: "9.1", number: 901 } as const;

/** The architectures that random modules are for. */
export const targets = {
  sm_90a: { name: "sm_90a", sm: 90, variant: "a" },
  sm_100a: { name: "sm_100a", sm: 100, variant: "a" },
  sm_120a: { name: "sm_120a", sm: 120, variant: "a" },
} as const;
export type Target = (typeof targets)[keyof typeof targets];
