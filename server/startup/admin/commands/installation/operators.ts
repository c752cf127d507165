import { grantOperator, listOperators, revokeOperator } from "#server/services/people/operators";
import { type AdminCommand, examples, runInDatabase } from "../../command";
import { listOutput } from "../../terminal";

/** `operator grant`, `operator revoke`, `operator list`. */
export function addOperatorCommands(program: AdminCommand): void {
  const operator = program.command("operator").description("users who operate the installation");

  const grant = operator
    .command("grant")
    .description("makes a user an operator")
    .argument(...EMAIL)
    .addHelpText(...examples("operator grant ann@example.com"));
  runInDatabase(grant, async ({ deps }, given: string) => {
    const {
      user: { id, email },
      isChanged,
    } = await grantOperator(deps, given);
    return {
      json: { id, email, operator: true },
      text: [
        isChanged ? `${email} is now an operator of the installation.` : `${email} is an operator already.`,
      ],
    };
  });

  const revoke = operator
    .command("revoke")
    .description("ends it for a user; the last operator stays")
    .argument(...EMAIL);
  runInDatabase(revoke, async ({ deps }, given: string) => {
    const { id, email } = await revokeOperator(deps, given);
    return { json: { id, email, operator: false }, text: [`${email} is no longer an operator.`] };
  });

  const list = operator.command("list").description("lists the operators");
  runInDatabase(list, async ({ deps }) =>
    listOutput(
      await listOperators(deps),
      ({ id, email, name }) => ({ id, email, name }),
      "No operators. Make a user one: operator grant EMAIL",
    ),
  );
}

const EMAIL = ["<email>", "email address of the user"] as const;
