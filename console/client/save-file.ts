/** Saves the file of a URL that the API has signed on the reader's computer. @throws Error for anything but http(s) */
export const saveFile = (url: string): void => {
  if (!/^https?:$/.test(new URL(url).protocol)) throw new Error('The download address must be an http or https URL.');
  const link = document.createElement('a');
  link.href = url;
  link.rel = 'noreferrer';
  link.click();
};
