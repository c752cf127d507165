import { grantOperator, listOperators, revokeOperator } from "#server/services/account/operators";
import { asText } from "../../arguments";
import { argument, inDatabase } from "../../command";
import { listOutput, output } from "../../terminal";

const email = argument("email address of the user", asText);

export const operatorCommands = {
  grant: inDatabase({
    about: "makes a user an operator",
    params: { email },
    run: async ({ deps }, { email: given }) => {
      const { user, isChanged } = await grantOperator(deps, given);
      const { id, email } = user;
      const state = isChanged ? "is now an operator of the installation" : "is an operator already";
      return output({ id, email, operator: true }, `${email} ${state}.`);
    },
  }),

  revoke: inDatabase({
    about: "ends it for a user; the last operator stays",
    params: { email },
    run: async ({ deps }, { email: given }) => {
      const { id, email } = await revokeOperator(deps, given);
      return output({ id, email, operator: false }, `${email} is no longer an operator.`);
    },
  }),

  list: inDatabase({
    about: "lists the operators",
    run: async ({ deps }) =>
      listOutput(await listOperators(deps), "No operators. Make a user one: operator grant EMAIL", [
        "id",
        "email",
        "name",
      ]),
  }),
};
