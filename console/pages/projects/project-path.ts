/** The address of a project's screen. @param organization that an admin looks at; undefined: the own one */
export const projectPath = (id: string, organization: string | undefined): string =>
  `/projects/${id}${organization ? `?${new URLSearchParams({ organization })}` : ''}`;
