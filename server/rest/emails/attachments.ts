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
import { listJson, listQuery } from "../pipeline/query";
import { withApi } from "../pipeline/route";

function presentWithLink(ctx: Ctx, file: StoredFile): z.infer<typeof AttachmentResponse> {
  const { url, expiresAt } = linkToFile(ctx, file);
  return { ...presentAttachment(file), download_url: url, expires_at: expiresAt.toISOString() };
}

export const attachmentRoutes = [
  withApi({
    route: "GET /api/emails/{id}/attachments",
    access: { scope: "emails:read" },
    summary: "List the attachments of an email, with download links",
    query: listQuery({}),
    example: { query: { limit: "20" } },
    response: listOf(AttachmentResponse),
    handle: async ({ ctx, params, query }) =>
      listJson(await listFiles(ctx, params.id, query), (file) => presentWithLink(ctx, file)),
  }),
  withApi({
    route: "GET /api/emails/{id}/attachments/{attachment_id}",
    access: { scope: "emails:read" },
    summary: "Get an attachment of an email, with a download link",
    response: z.object({ object: z.literal("attachment"), ...AttachmentResponse.shape }),
    handle: async ({ ctx, params }) => {
      const file = await getFile(ctx, params.id, params.attachment_id);
      return { object: "attachment" as const, ...presentWithLink(ctx, file) };
    },
  }),
  /** Public: the signed link itself grants access, for users without an API key. */
  withApi({
    route: `GET ${fileLinkPath}`,
    access: "public",
    summary: "Download an attachment by its signed link, valid for one hour",
    params: { token: "The signed token in the link." },
    responseType: "application/octet-stream",
    handle: async ({ ctx, params }) => {
      const file = await openFileLink(ctx, params.token);
      return { stream: readFile(ctx, file), filename: fileNameOf(file), contentType: file.contentType };
    },
  }),
];
