// The screens of things by the prefix of their ids.
const SCREEN_OF_PREFIX: Readonly<Record<string, string>> = {
  dep: '/deployments',
  inv: '/invoices',
  key: '/api-keys',
  org: '/organizations',
  prj: '/projects',
  req: '/requests',
  rr: '/rerates',
  tkt: '/tickets',
  wh: '/webhooks',
  idp: '/identity-providers',
};

/** The path of the screen of a thing; undefined for a text that is no id, or of a thing without a screen. */
export const addressOfId = (text: string): string | undefined => {
  const [, prefix = ''] = /^([a-z]+)_[0-9A-Za-z-]{8,64}$/.exec(text) ?? [];
  const screen = SCREEN_OF_PREFIX[prefix];
  return screen && `${screen}/${text}`;
};
