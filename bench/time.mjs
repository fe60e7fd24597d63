/** Milliseconds that `run` takes. */
export function milliseconds(run) {
  const begin = performance.now();
  run();
  return performance.now() - begin;
}

/** Milliseconds of processor time that `run` takes, which other programs on the machine disturb less. */
export function cpuMilliseconds(run) {
  const begin = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}

const times = (count, run) => Array.from({ length: count }, () => milliseconds(run)).sort((a, b) => a - b);

export const best = (count, run) => times(count, run)[0];
