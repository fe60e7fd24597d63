import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Where Lanewise keeps what it can make again: `LANEWISE_CACHE`, or a folder of its own among the caches of the user; null where
 * `LANEWISE_CACHE` is empty, or "off".
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env, platform: string = process.platform): string | null {
  const named = env["LANEWISE_CACHE"];
  if (named !== undefined) return named === "" || named === "off" ? null : named;
  return join(userCaches(env, platform), "lanewise");
}

function userCaches(env: NodeJS.ProcessEnv, platform: string): string {
  if (platform === "win32") return env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local");
  if (platform === "darwin") return join(homedir(), "Library", "Caches");
  // The XDG Base Directory Specification: a relative path is to be ignored.
  const { XDG_CACHE_HOME: caches } = env;
  return caches?.startsWith("/") ? caches : join(homedir(), ".cache");
}
