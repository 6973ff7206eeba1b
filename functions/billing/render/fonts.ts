import { readFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * The fonts of documents, which have Latin, Greek and Cyrillic letters: file names, and their paths in `node_modules`.
 */
export const FONT_FILES: Readonly<Record<string, string>> = {
  'regular.ttf': '@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
  'bold.ttf': '@expo-google-fonts/noto-sans/600SemiBold/NotoSans_600SemiBold.ttf',
};

/** The folder of the fonts next to a bundle. */
export const FONTS_FOLDER = 'fonts';

/** The fonts that a bundle needs: their paths in it, and in `node_modules`. */
export const BUNDLED_FONTS = Object.fromEntries(
  Object.entries(FONT_FILES).map(([name, source]) => [path.join(FONTS_FOLDER, name), source]),
);

export interface Fonts {
  regular: Buffer;
  bold: Buffer;
}

/** Reads the fonts when the first document needs them. @param folder with the files of FONT_FILES */
export const createFonts = (folder: string): (() => Promise<Fonts>) => {
  let fonts: Promise<Fonts> | undefined;
  const read = async (): Promise<Fonts> => {
    const [regular, bold] = await Promise.all(['regular.ttf', 'bold.ttf'].map((name) => readFile(path.join(folder, name))));
    return { regular: regular as Buffer, bold: bold as Buffer };
  };
  return () => {
    fonts ??= read();
    return fonts;
  };
};
