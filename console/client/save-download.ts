/** Has the browser save what a presigned URL of ours leads to. @throws Error for a URL that is not of the web */
export const saveDownload = (url: string): void => {
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('The service returned no link to this file.');
  const link = document.createElement('a');
  link.href = href;
  link.rel = 'noopener noreferrer';
  link.click();
};
