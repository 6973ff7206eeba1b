const ENTRY = /^## (?<version>\d+\.\d+\.\d+) \((?<date>\d{4}-\d{2}-\d{2})\)$/m;

/** The newest release in the text of CHANGELOG.md. */
export const latestRelease = (changelog: string): { version: string; date: string } | undefined => {
  const { version, date } = ENTRY.exec(changelog)?.groups ?? {};
  return version === undefined || date === undefined ? undefined : { version, date };
};
