import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "../../support/processes/processes";

/**
 * Writes the recipe for Caddy into a folder, with these ports and with certificates of Caddy's own authority.
 * Returns how to start it.
 */
export function prepareCaddy(
  folder: string,
  { port, plainPort, upstreamPort }: { port: number; plainPort: number; upstreamPort: number },
) {
  const recipe = readFileSync(path.join(projectRoot, ".github/deploy/Caddyfile"), "utf8");
  const options = [
    ...["admin off", "skip_install_trust", "local_certs", "auto_https disable_redirects"],
    ...[`http_port ${plainPort}`, `https_port ${port}`, `storage file_system ${folder}/caddy`],
  ];
  const config = path.join(folder, "Caddyfile");
  // The recipe's own global options are its first block.
  writeFileSync(config, recipe.replace(/^\{\n/m, `{\n${options.join("\n")}\n`));
  return {
    args: ["run", "--adapter", "caddyfile", "--config", config],
    env: {
      BACKSTAMP_URL: "https://mail.example.com",
      BACKSTAMP_UPSTREAM: `127.0.0.1:${upstreamPort}`,
      HOME: folder,
    },
    /** The root of the authority, PEM, once Caddy has started. */
    readRoot: () => readFileSync(path.join(folder, "caddy/pki/authorities/local/root.crt"), "utf8"),
  };
}
