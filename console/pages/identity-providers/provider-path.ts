/** The path of a connection's page. @param organization for users of the platform, who name it in each request */
export const providerPath = (id: string, organization: string | undefined): string =>
  `/identity-providers/${id}${organization ? `?organization=${organization}` : ''}`;
