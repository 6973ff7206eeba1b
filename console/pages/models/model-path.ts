/** The address of a thing with a name, which can have slashes. @param organization that owns it; null: nobody */
export const pathOfName = (screen: string, name: string, organization: string | null): string =>
  `${screen}/${name.split('/').map(encodeURIComponent).join('/')}${organization === null ? '' : `?${new URLSearchParams({ organization })}`}`;

/** The address of a model's screen. @param organization of a deployment's model */
export const modelPath = (name: string, organization: string | null): string => pathOfName('/models', name, organization);

// An address that was cut has no name that exists, and the API says so.
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The name in the part of an address after `/models/`. */
export const modelNameOf = (path: string): string => path.split('/').map(decoded).join('/');
