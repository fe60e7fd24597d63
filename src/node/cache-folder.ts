import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Returns the folder for files that Lanewise can recreate: `LANEWISE_CACHE` if it is set, else "lanewise" in the user's
 * cache folder (`%LOCALAPPDATA%`, `~/Library/Caches`, or `$XDG_CACHE_HOME` and `~/.cache`). Null if `LANEWISE_CACHE` is
 * empty or "off". The folder need not exist.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env, platform: string = process.platform): string | null {
  const named = env["LANEWISE_CACHE"];
  if (named !== undefined) return named === "" || named === "off" ? null : named;
  return join(userCaches(env, platform), "lanewise");
}

function userCaches(env: NodeJS.ProcessEnv, platform: string): string {
  if (platform === "win32") return env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local");
  if (platform === "darwin") return join(homedir(), "Library", "Caches");
  // The XDG Base Directory Specification says to ignore a relative path.
  const { XDG_CACHE_HOME: caches } = env;
  return caches?.startsWith("/") ? caches : join(homedir(), ".cache");
}
