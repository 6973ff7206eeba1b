import type { BillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { FILE_ENDINGS, FileFormat, type Invoice } from '../../../../shared/billing/invoice.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { type Download, downloadOf, type SignDownload } from './download.ts';
import { NotRenderedYet } from './not-rendered-yet.ts';
import { sendRender } from './send-render.ts';

export interface DownloadDependencies {
  billingTasks: BillingTasks;
  signDownload: SignDownload;
}

/** Parses the format of a document's file, such as `pdf`. @throws 404 */
export const fileFormatOf = (text: string): FileFormat => {
  const { data } = FileFormat.safeParse(text);
  if (!data) throw new ResourceNotFound('file', text);
  return data;
};

/** Returns a file of an issued document. @throws 409 until the file is rendered, which it also starts */
export const downloadDocument = async (
  deps: DownloadDependencies,
  document: Pick<Invoice, 'id' | 'organization' | 'files'> & { number: string },
  format: FileFormat,
  nowMs: number,
): Promise<Download> => {
  const file = document.files[format];
  if (file) return downloadOf(deps, file, document.number + FILE_ENDINGS[format], nowMs);
  await sendRender(deps, document, nowMs);
  throw new NotRenderedYet(document.number);
};
