/** The default theme with the fonts of the reader's system: nothing is fetched from anywhere. */
import DefaultTheme from "vitepress/theme-without-fonts";
import "./site.css";

export default DefaultTheme;
