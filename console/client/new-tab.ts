/**
 * Opens an empty tab. To be called while a click is handled: browsers block it later.
 * @returns the tab, which still has to be sent somewhere @throws Error if the browser blocked it
 */
export const openTab = (): Window => {
  const tab = window.open('', '_blank');
  if (!tab) throw new Error('Your browser blocked the new tab. Allow pop-ups for this page, then try again.');
  // The other page must not be able to steer this one.
  tab.opener = null;
  return tab;
};
