/** The lifetime of a form: long enough for 10 MB over a slow connection. */
export const UPLOAD_SECONDS = 900;
/** The lifetime of a download's URL. Anyone who has it needs no login, so the time is short. */
export const DOWNLOAD_SECONDS = 300;

/** A file as it was announced. */
export interface Announced {
  contentType: string;
  bytes: number;
}

/** The address and the fields of a form that uploads a file. */
export interface UploadForm {
  url: string;
  fields: Record<string, string>;
}

/** The bucket with the files of tickets. */
export interface TicketFiles {
  /** Signs a form that uploads exactly the announced file. It can be used more than once, until it expires. */
  signUpload(key: string, file: Announced, nowMs: number): Promise<UploadForm>;
  /**
   * Copies an uploaded file to a key that no form uploads to, unless a copy is there already. Copies are never
   * replaced.
   * @returns false if there is no upload, or not the announced one
   */
  keep(from: string, to: string, file: Announced): Promise<boolean>;
  /** Signs the URL of a file, which browsers save under this name. */
  signDownload(key: string, name: string, nowMs: number): Promise<string>;
}
