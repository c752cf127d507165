import { foreignKey, pgTable, primaryKey, text, timestamp, unique, uuid } from "drizzle-orm/pg-core";
import { domains } from "./domains";

/**
 * The keys with which a domain's mail is signed. Which of them sign a mail follows from the time at which it was accepted,
 * and so is the same in every attempt. Until it signs, a key waits to be seen in DNS; when its successor signs, its record
 * stays published as long as mail of its time may be under way.
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
    /** Base64 of the public key, as it is published in `p=`. */
    publicKey: text().notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    /** Mail that was accepted from here on is signed with it; null while it waits. */
    signsFrom: timestamp({ withTimezone: true }),
    /** And before this; null where nothing followed it yet. */
    signsUntil: timestamp({ withTimezone: true }),
    /** How long its record has to stay published after that, at least. */
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
