// The package has no types. pdfkit takes what it returns.
declare module 'fontkit' {
  export const create: (file: Uint8Array) => object;
}
