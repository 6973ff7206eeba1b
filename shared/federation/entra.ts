// In all clouds: https://learn.microsoft.com/en-us/entra/identity-platform/authentication-national-cloud
const ENTRA = /^https:\/\/(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)\//;

/** True for an issuer of Microsoft Entra, also in a national cloud. */
export const isEntra = (issuer: string): boolean => ENTRA.test(issuer);
