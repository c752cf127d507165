import { foreignKey, pgTable, primaryKey, text, timestamp, unique, uuid } from "drizzle-orm/pg-core";
import { domains } from "./domains";

/**
 * The DKIM keys of a domain. The acceptance time of an email determines which keys sign it, so they are the same in each
 * attempt. A new key signs only after its record was found in DNS. After its successor starts to sign, its record must stay
 * published while emails signed with it can be in progress.
 */
export const dkimKeys = pgTable(
  "dkim_keys",
  {
    teamId: uuid().notNull(),
    id: uuid().notNull(),
    domainId: uuid().notNull(),
    algorithm: text({ enum: ["rsa", "ed25519"] }).notNull(),
    /** DNS label below `_domainkey`. */
    selector: text().notNull(),
    /** PKCS #8 PEM, encrypted. */
    privateKey: text().notNull(),
    /** Base64 of the public key, as published in `p=`. */
    publicKey: text().notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** It signs emails accepted from this time on; null while it awaits DNS. */
    signsFrom: timestamp({ withTimezone: true }),
    /** It signs emails accepted before this time; null while it has no successor. */
    signsUntil: timestamp({ withTimezone: true }),
    /** The earliest time at which its record may be removed from DNS. */
    keptUntil: timestamp({ withTimezone: true }),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    unique("dkim_keys_selector_key").on(t.teamId, t.domainId, t.selector),
    foreignKey({ columns: [t.teamId, t.domainId], foreignColumns: [domains.teamId, domains.id] }).onDelete(
      "cascade",
    ),
  ],
);
