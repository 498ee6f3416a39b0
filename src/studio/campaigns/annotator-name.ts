/** Who answers in this tab: kept here and never in the address. */

const NAME = "fairbed annotator";

export const annotatorName = (): string => {
  try {
    return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
};

/** Of this tab, and of those that are opened later. */
export const keepAnnotatorName = (name: string): void => {
  try {
    sessionStorage.setItem(NAME, name);
    localStorage.setItem(NAME, name);
  } catch {
    // It is known until the page is left.
  }
};
