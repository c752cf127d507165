"use client";

import { showError, showSuccess } from "../../_ui/dialog/toasts";
import { SelectField, TextField } from "../../_ui/form/form";
import { type Fields, filled } from "../../_ui/form/use-fields";

const ENCRYPTIONS = [
  { value: "required", label: "STARTTLS" },
  { value: "implicit", label: "TLS from the start" },
  { value: "opportunistic", label: "STARTTLS if the server offers it" },
] as const;

const CERTIFICATES = [
  { value: "valid", label: "Must be valid" },
  { value: "any", label: "Any, such as a self-signed one" },
] as const;

export type RelayFields = {
  name: string;
  host: string;
  port: string;
  tls: (typeof ENCRYPTIONS)[number]["value"];
  certificate: (typeof CERTIFICATES)[number]["value"];
  user: string;
  password: string;
  connectionsMax: string;
};

/** A new relay: port 587 with STARTTLS, as most providers have it. */
export const EMPTY_RELAY: RelayFields = {
  name: "",
  host: "",
  port: "587",
  tls: "required",
  certificate: "valid",
  user: "",
  password: "",
  connectionsMax: "10",
};

/** The fields as the input of a call. */
export const relayInput = ({ certificate, port, connectionsMax, ...fields }: RelayFields) => ({
  ...fields,
  port: Number(port),
  connectionsMax: Number(connectionsMax),
  verify: certificate === "valid",
});

/** Reports the test of a relay that was added or changed. */
export function reportTest({ relay, fault }: { relay: { name: string }; fault: string | null }): void {
  if (fault === null) {
    showSuccess(`${relay.name} is saved. Its test succeeded.`);
    return;
  }
  const message = `${relay.name} is saved, but its test failed, so it carries no email: ${fault}`;
  showError({ message, code: null, requestId: null });
}

const numeric = (message: string) => ({
  validate: (text: string) => /^\d{1,5}$/.test(text.trim()) || message,
});

type Props<Values extends RelayFields> = {
  form: Fields<Values>;
  /** Below the password. */
  passwordHint: string;
};

/** Name, server and login of a relay. */
export function RelayForm<Values extends RelayFields>({ form, passwordHint }: Props<Values>) {
  const { field, getFieldState, setValue } = form as unknown as Fields<RelayFields>;
  return (
    <>
      <TextField
        label="Name"
        placeholder="main"
        maxLength={100}
        autoComplete="off"
        {...field("name", filled("Enter a name."))}
      />
      <div className="grid grid-cols-[1fr_6rem] gap-4">
        <TextField
          label="Host"
          placeholder="smtp.example.com"
          autoComplete="off"
          spellCheck={false}
          {...field("host", filled("Enter a host."))}
        />
        <TextField
          label="Port"
          inputMode="numeric"
          autoComplete="off"
          {...field("port", numeric("Enter a port."))}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Encryption"
          hint="With a login, TLS is always required, except on this machine."
          options={ENCRYPTIONS}
          {...field("tls", {
            onChange: ({ target }) => {
              if (!getFieldState("port").isDirty)
                setValue("port", target.value === "implicit" ? "465" : "587");
            },
          })}
        />
        <SelectField label="Certificate" options={CERTIFICATES} {...field("certificate")} />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="User" autoComplete="off" spellCheck={false} {...field("user")} />
        <TextField
          label="Password"
          type="password"
          hint={passwordHint}
          autoComplete="new-password"
          {...field("password")}
        />
      </div>
      <TextField
        label="Connections"
        hint="The most connections that each worker opens."
        inputMode="numeric"
        autoComplete="off"
        {...field("connectionsMax", numeric("Enter a number of connections."))}
      />
    </>
  );
}
