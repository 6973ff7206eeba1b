const MAX_REDIRECTS = 10;

/** A page at which a browser has arrived, or the address to which it would go on. */
export interface Page {
  status: number;
  url: string;
  html: string;
}

const attributesOf = (tag: string): Record<string, string> =>
  Object.fromEntries([...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));

// A browser without scripts, with the cookies of each host. `leaves` is true for an address that it does not load.
const createBrowser = (leaves: (url: string) => boolean = () => false) => {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string): Map<string, string> => {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };

  const keep = (url: string, headers: Headers): void => {
    for (const cookie of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') jarOf(url).delete(name);
      else jarOf(url).set(name, value);
    }
  };

  const load = async (url: string, form?: Record<string, string>): Promise<Page> => {
    let next = { url, form };
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      if (leaves(next.url)) return { status: 0, url: next.url, html: '' };
      const response = await fetch(next.url, {
        redirect: 'manual',
        headers: { cookie: [...jarOf(next.url)].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(next.form && { method: 'POST', body: new URLSearchParams(next.form) }),
      });
      keep(next.url, response.headers);
      const location = response.headers.get('location');
      if (location === null) return { status: response.status, url: next.url, html: await response.text() };
      next = { url: new URL(location, next.url).href, form: undefined };
    }
    throw new Error(`More than ${MAX_REDIRECTS} redirects from ${url}.`);
  };

  return {
    load,
    /** Sends the form of a page, with its hidden fields and the given ones. */
    submit: async ({ html, url, status }: Page, fields: Record<string, string> = {}): Promise<Page> => {
      const action = attributesOf(/<form[^>]*>/.exec(html)?.[0] ?? '').action;
      if (action === undefined) throw new Error(`The page ${url} has no form: ${status} ${html.slice(0, 500)}`);
      const inputs = [...html.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([tag]) => attributesOf(tag));
      const hidden = Object.fromEntries(inputs.map(({ name = '', value = '' }) => [name, value]));
      return load(new URL(action, url).href, { ...hidden, ...fields });
    },
  };
};

/**
 * Signs a person in at a provider that asks for a login and then for a consent; returns where their browser arrives.
 * @param leaves true for an address that the browser does not load, such as a program's
 */
export const signInAt = async (issuer: string, authorizeUrl: string, account: string, leaves?: (url: string) => boolean): Promise<Page> => {
  const browser = createBrowser(leaves);
  const login = await browser.load(authorizeUrl);
  if (!login.url.startsWith(issuer)) return login;
  const consent = await browser.submit(login, { login: account, password: 'any' });
  return browser.submit(consent);
};
