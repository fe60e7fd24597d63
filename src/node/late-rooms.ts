/** What loads the parts of the library that are loaded when they are needed. */
interface LateRooms {
  /**
   * Makes rooms be loaded by what `loaderOf` returns for the folder of the library's files: a function that is given a
   * file's path in that folder and returns its exports. Does nothing if this has been done, if `loaderOf` returns null,
   * or if a bundler has put the library into files of its own.
   */
  loadWith(loaderOf: (folder: string) => ((file: string) => object) | null): void;
}

/** Null where all is there from the beginning. The build for Node puts another module in the place of this one. */
export const lateRooms: LateRooms | null = null;
