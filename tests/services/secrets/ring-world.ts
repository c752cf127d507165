import type { RestDeps } from "#server/deps";
import { createKeyring } from "#server/platform/secrets/keyring";
import { admitKeyring } from "#server/services/secrets/registry";
import { openDeps } from "../../support/deps";
import { createWorld, type World } from "../../support/world";

export const newSecret = "a new secret of this installation, for the tests";
export const foreignSecret = "the secret of another installation altogether";

export type RingWorld = World & {
  /** Another process of the installation, with these secrets. */
  processWith(secret: string, ...formerSecrets: string[]): RestDeps;
};

/** An installation whose secret is recorded, and further processes of it. */
export async function openRingWorld(): Promise<RingWorld> {
  const world = await createWorld();
  await admitKeyring(world.deps);
  const closing: (() => Promise<void>)[] = [];
  return {
    ...world,
    processWith: (secret, ...formerSecrets) => {
      const { deps, close } = openDeps(world.databaseUrl, {
        secret,
        formerSecrets,
        clock: world.clock,
        areSecretsUnchecked: true,
      });
      closing.push(close);
      return deps;
    },
    async close() {
      for (const close of closing) await close();
      await world.close();
    },
  };
}

export const idOf = (secret: string): string => createKeyring([secret]).given.id;
