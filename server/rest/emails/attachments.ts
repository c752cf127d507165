import { z } from "zod";
import type { Ctx } from "#server/deps";
import {
  fileLinkPath,
  fileNameOf,
  getFile,
  linkToFile,
  listFiles,
  openFileLink,
  readFile,
} from "#server/services/emails/read/files";
import { AttachmentResponse, presentAttachment, type StoredFile } from "#server/shared/wire/attachment";
import { listOf } from "#server/shared/wire/shapes";
import { listJson, PAGING, rejectTwoCursors } from "../pipeline/query";
import { withApi } from "../pipeline/route";
import { requireId } from "../pipeline/validate";

/** The query of a list of attachments. */
const AttachmentListQuery = z.strictObject(PAGING).transform((query) => {
  rejectTwoCursors(query);
  return query;
});

function presentWithLink(ctx: Ctx, file: StoredFile): z.infer<typeof AttachmentResponse> {
  const { url, expiresAt } = linkToFile(ctx, file);
  return { ...presentAttachment(file), download_url: url, expires_at: expiresAt.toISOString() };
}

export const getAttachments = withApi(
  {
    method: "GET",
    path: "/api/emails/{id}/attachments",
    access: { scope: "emails:read" },
    tier: "other",
    summary: "List the attachments of an email, with download links",
    query: AttachmentListQuery,
    example: { query: { limit: "20" } },
    response: listOf(AttachmentResponse),
  },
  async ({ ctx, params, query }) => {
    const { rows, hasMore } = await listFiles(ctx, requireId(params, "id"), query);
    return {
      body: listJson(
        rows.map((file) => presentWithLink(ctx, file)),
        hasMore,
      ),
    };
  },
);

export const getOneAttachment = withApi(
  {
    method: "GET",
    path: "/api/emails/{id}/attachments/{attachment_id}",
    access: { scope: "emails:read" },
    tier: "other",
    summary: "Get an attachment of an email, with a download link",
    response: z.object({ object: z.literal("attachment"), ...AttachmentResponse.shape }),
  },
  async ({ ctx, params }) => {
    const file = await getFile(ctx, requireId(params, "id"), requireId(params, "attachment_id"));
    return { body: { object: "attachment", ...presentWithLink(ctx, file) } } as const;
  },
);

/** Public: the signed link itself grants access, for users without an API key. */
export const getAttachmentByLink = withApi(
  {
    method: "GET",
    path: fileLinkPath,
    access: "public",
    tier: "other",
    summary: "Download an attachment by its signed link, valid for one hour",
    params: { token: "The signed token in the link." },
    responseType: "application/octet-stream",
  },
  async ({ ctx, params }) => {
    const file = await openFileLink(ctx, params.token ?? "");
    return { stream: readFile(ctx, file), filename: fileNameOf(file), contentType: file.contentType };
  },
);
