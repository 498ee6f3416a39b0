/** Starts the page. */
import { mount } from "svelte";
import App from "./App.svelte";
import "./studio.css";

const target = document.querySelector("#app");
if (target !== null) mount(App, { target });
