// The page is at `<root>/console/`, and the root of the host can be the path of a stage.
const root = new URL('../', document.baseURI);

/** The URL of a path of this host's API, such as `/v1/me`. */
export const apiUrl = (path: string): URL => new URL(path.replace(/^\//, ''), root);

/** The path of the console's own pages, such as `/live/console`. */
export const consolePath = new URL(document.baseURI).pathname.replace(/\/$/, '');

/** The URL of this host's API, without a slash at its end. */
export const controlUrl = root.href.replace(/\/$/, '');
