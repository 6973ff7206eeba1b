/** The cursor in the `link` header of a part; undefined on the last part. */
export const nextPart = (link: string | null): string | undefined => {
  const [, target = ''] = /^<([^>]*)>; rel="next"$/.exec(link ?? '') ?? [];
  return new URLSearchParams(target.slice(target.indexOf('?'))).get('after') ?? undefined;
};
