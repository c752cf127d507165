import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectRoot, runToExit, startProcess } from "./processes";

/** The source of a sample, and the base URL in its environment. */
export type SampleRun = { source: string; baseUrl: string };

/** Runs samples with this API key in the environment. Returns what each of them printed. */
export type RunSamples = (runs: readonly SampleRun[], key: string) => Promise<string[]>;

/** The interpreters that Debian installs. */
const python = "/usr/bin/python3";
const php = "/usr/bin/php";

export const hasPython = (): boolean => existsSync(python);
export const hasPhp = (): boolean => existsSync(php);

/**
 * Runs samples for Node one after another, all in one process, because starting one takes longer than most
 * samples. They can import the packages of this project.
 */
export const runNode: RunSamples = async (runs, key) => {
  const folder = mkdtempSync(path.join(tmpdir(), "backstamp-samples-"));
  try {
    symlinkSync(path.join(projectRoot, "node_modules"), path.join(folder, "node_modules"));
    for (const [index, { source }] of runs.entries())
      writeFileSync(path.join(folder, `${index}.mjs`), source);
    writeFileSync(path.join(folder, "runner.mjs"), NODE_RUNNER);
    return await runAll(process.execPath, [path.join(folder, "runner.mjs")], runs, key);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** The same for Python, with stand-ins for the packages that samples import. They send real requests. */
export const runPython: RunSamples = (runs, key) => runAll(python, ["-c", PYTHON_RUNNER], runs, key);

/** The same for PHP. */
export const runPhp: RunSamples = (runs, key) => runAll(php, ["-r", PHP_RUNNER], runs, key);

/** The runner reads the samples from its standard input, and prints a zero byte after each one. */
async function runAll(command: string, args: string[], runs: readonly SampleRun[], key: string) {
  const started = await startProcess(command, args, {
    env: { BACKSTAMP_KEY: key },
    input: JSON.stringify(runs),
  });
  const { code, stdout, stderr } = await runToExit(started);
  if (code !== 0) throw new Error(`${command} exited with ${code}: ${stderr}`);
  return stdout.split("\0").slice(0, -1);
}

const NODE_RUNNER = `
import { text } from "node:stream/consumers";
const runs = JSON.parse(await text(process.stdin));
for (const [index, { baseUrl }] of runs.entries()) {
  process.env.BACKSTAMP_URL = baseUrl;
  await import(\`./\${index}.mjs\`);
  process.stdout.write("\\0");
}
`;

const PYTHON_RUNNER = `
import json, os, sys, types, urllib.error, urllib.request

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

class Response:
    def __init__(self, status_code, text):
        self.status_code, self.text = status_code, text

def send(method, url, headers={}, body=None):
    request = urllib.request.Request(url, method=method, data=body, headers=headers)
    try:
        with opener.open(request) as response:
            return Response(response.status, response.read().decode())
    except urllib.error.HTTPError as error:
        return Response(error.code, error.read().decode())

def caller(method):
    def call(url, headers={}, data=None, **given):
        if "json" in given:
            content = json.dumps(given.pop("json")).encode()
            return send(method, url, {**headers, "Content-Type": "application/json"}, content)
        if given:
            raise TypeError("requests has no stand-in for " + ", ".join(given))
        return send(method, url, headers, None if data is None else data.encode())
    return call

requests = types.ModuleType("requests")
for name in ("get", "post", "put", "patch", "delete"):
    setattr(requests, name, caller(name.upper()))

resend = types.ModuleType("resend")
class Emails:
    @staticmethod
    def send(params):
        headers = {"Authorization": "Bearer " + resend.api_key, "Content-Type": "application/json"}
        sent = send("POST", resend.api_url + "/emails", headers, json.dumps(params).encode())
        if sent.status_code >= 400:
            raise RuntimeError(sent.text)
        return json.loads(sent.text)
resend.Emails = Emails

sys.modules["requests"], sys.modules["resend"] = requests, resend
for run in json.load(sys.stdin):
    os.environ["BACKSTAMP_URL"] = run["baseUrl"]
    exec(compile(run["source"], "sample.py", "exec"), {"__name__": "__main__"})
    sys.stdout.write("\\0")
`;

const PHP_RUNNER = `
foreach (json_decode(file_get_contents("php://stdin"), true) as $run) {
    putenv("BACKSTAMP_URL=" . $run["baseUrl"]);
    eval(substr($run["source"], strlen("<?php")));
    echo "\\0";
}
`;
