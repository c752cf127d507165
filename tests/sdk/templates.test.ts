import { createElement } from "react";
import { expect, test } from "vitest";
import { data, describeClients, errorOf, errorWith, startTestServer } from "./test-server";

const testServer = await startTestServer();

describeClients(testServer, (client, account) => {
  const one = (id: string) => ({ object: "template", id });

  test("a template is created and published in one chain, and can be read back", async () => {
    const { sdk, domain } = account;
    const { id } = await data(
      sdk.templates
        .create({
          name: "Chained",
          alias: "chained",
          from: `Ann <ann@${domain}>`,
          replyTo: ["help@example.net"],
          subject: "Hi {{{NAME}}}",
          html: "<p>{{{NAME}}}</p>",
          text: "{{{NAME}}}",
          variables: [{ key: "NAME", type: "string", fallbackValue: "you" }],
        })
        .publish(),
    );
    for (const name of [id, "chained"])
      expect(await data(sdk.templates.get(name))).toMatchObject({
        object: "template",
        id,
        name: "Chained",
        alias: "chained",
        from: `Ann <ann@${domain}>`,
        reply_to: ["help@example.net"],
        subject: "Hi {{{NAME}}}",
        html: "<p>{{{NAME}}}</p>",
        text: "{{{NAME}}}",
        status: "published",
        published_at: expect.any(String),
        created_at: expect.any(String),
        updated_at: expect.any(String),
        has_unpublished_versions: false,
        current_version_id: expect.any(String),
        variables: [{ key: "NAME", type: "string", fallback_value: "you" }],
      });
  });

  // The server does not distinguish versions: forms of content are sent with one of them.
  const testNewest = client.isNewest ? test : () => {};

  testNewest("a React element is rendered to the template's HTML, and its placeholders remain", async () => {
    const { sdk, mail } = account;
    const react = createElement("p", null, "Dear {{{NAME}}}");
    const { id } = await data(sdk.templates.create({ name: "React", subject: "Hi", react }).publish());
    const sent = await data(
      sdk.emails.send({ from: mail.from, to: mail.to, template: { id, variables: { NAME: "Ben" } } }),
    );
    expect((await testServer.sentMessage(sent.id)).html).toContain("Dear Ben");
  });

  test("a duplicate is published in one chain, listed, changed, and removed", async () => {
    const { sdk } = await testServer.account(client);
    const { id } = await data(sdk.templates.create({ name: "First", html: "<p>1</p>" }));
    const { id: copy } = await data(sdk.templates.duplicate(id).publish());
    expect(copy).not.toBe(id);
    const [row] = (await data(sdk.templates.list({ limit: 1 }))).data;
    expect(row).toMatchObject({ status: "published", alias: null, published_at: expect.any(String) });
    expect(await data(sdk.templates.update(copy, { subject: "Two" }))).toEqual(one(copy));
    expect((await data(sdk.templates.get(copy))).has_unpublished_versions).toBe(true);
    expect(await data(sdk.templates.publish(copy))).toEqual(one(copy));
    expect(await data(sdk.templates.remove(copy))).toEqual({ ...one(copy), deleted: true });
    expect(await errorOf(sdk.templates.get(copy))).toEqual(errorWith(404, "not_found"));
  });

  testNewest("an error stops the chain", async () => {
    const { sdk } = account;
    expect(await sdk.templates.create({ name: "Bad", html: "" }).publish()).toMatchObject({
      data: null,
      error: errorWith(422, "validation_error", /html/),
    });
  });
});
