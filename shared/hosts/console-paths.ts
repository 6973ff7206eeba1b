/** The paths of the control plane's host that the function `console` serves. All below `page` are of the console. */
export const CONSOLE_PATHS = { page: '/console', configuration: '/v1/console/configuration' } as const;
