/**
 * Milliseconds of processor time that `run` takes: other programs on the machine, and other tests, which run in
 * processes of their own, hardly disturb it.
 */
export function processorMilliseconds(run: () => void): number {
  const begin = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}
