import { mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import type { InstalledServer } from "./installed-server";
import { startProcess } from "./processes";

/**
 * Arguments: a folder, the packages, and the program with its arguments. `policy-rc.d` is what Debian asks
 * before the scripts of a package start or stop a server.
 */
const SCRIPT = `set -e
cd "$1"; packages=$2; shift 2
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount --rbind /dev root/dev
mount -t proc proc root/proc
printf '#!/bin/sh\\nexit 101\\n' > root/usr/sbin/policy-rc.d
chmod 755 root/usr/sbin/policy-rc.d
chroot root apt-get install -qq -y --no-install-recommends $packages >&2
chroot root dpkg-query -W -f 'installed \${Version}\\n' \${packages%% *}
exec chroot root "$@"`;

const installMaxMs = 90_000;

/**
 * Installs Debian packages and starts a program of them in a copy-on-write view of this system: mail servers
 * replace one another, and nothing outside of a new folder in `parent` changes. Its processes see no others,
 * and end with it. `files` are read by the program; their names are absolute. The version is that of the
 * first package, without Debian's revision. Rejects with the reason if it cannot be installed.
 */
export async function startInOwnRoot(
  parent: string,
  { packages, files, command }: { packages: string; files: Record<string, string>; command: string[] },
): Promise<InstalledServer> {
  const folder = await mkdtemp(path.join(parent, "root-"));
  for (const name of ["upper", "work", "root"]) await mkdir(path.join(folder, name), { recursive: true });
  const write = Object.entries(files).map(
    ([name, text]) => `mkdir -p "$(dirname '${name}')"; cat > '${name}' <<'EOF'\n${text}\nEOF`,
  );
  const start = ["sh", "-c", `${write.join("\n")}\nexec ${command.join(" ")}`];
  const started = await startProcess(
    "unshare",
    ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SCRIPT, "sh", folder, packages, ...start],
    { env: { DEBIAN_FRONTEND: "noninteractive" } },
  );
  const close = async () => {
    await started.killTree();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [, version = ""] = await started.waitFor(/^installed ([\w.~]+)/m, { timeoutMs: installMaxMs });
    return {
      pid: started.pid,
      version,
      hasExited: () => started.hasExited,
      output: () => started.output,
      locate: (file) => path.join(folder, "upper", file),
      close,
    };
  } catch {
    await close();
    throw new Error(started.output.trim().split("\n").at(-1) ?? "it did not start");
  }
}
