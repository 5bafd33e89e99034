// The ask page prices a question while it is typed. Without this file, "Price it" does the same.
"use strict";

const form = document.getElementById("ask");
if (form) {
  const price = document.getElementById("price");
  const figure = document.getElementById("figure");
  const slider = document.getElementById("slider");
  const most = Number(form.dataset.most) || 1;
  const least = most / 1000;
  let timer = 0, latest = 0;

  form.querySelector(".slide").hidden = false;

  const place = () => {
    const share = Math.log(Number(figure.value) / least) / Math.log(most / least);
    if (Number.isFinite(share)) slider.value = String(100 * Math.min(1, Math.max(0, share)));
  };

  const show = async () => {
    const mine = ++latest;
    const body = new FormData(form);
    body.set("action", "price");
    price.classList.add("waiting");
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(body) });
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== latest) return;  // typed on since
      const open = price.querySelector("details")?.open;
      for (const name of ["price", "release"]) {
        const [old, fresh] = [document.getElementById(name), found.getElementById(name)];
        if (fresh) old.replaceChildren(...fresh.childNodes);
      }
      if (open && price.querySelector("details")) price.querySelector("details").open = true;
    } finally {
      if (mine === latest) price.classList.remove("waiting");
    }
  };

  const needed = [...form.querySelectorAll("fieldset[data-needed]")];
  const soon = () => {
    clearTimeout(timer);
    const ready = form.checkValidity() && needed.every((each) => each.querySelector(":checked"));
    if (ready) timer = setTimeout(show, 300);
  };

  slider.addEventListener("input", () => {
    const chosen = least * (most / least) ** (Number(slider.value) / 100);
    figure.value = String(Number(chosen.toPrecision(2)));
    soon();
  });
  form.addEventListener("input", (event) => {
    if (event.target === figure) place();
    if (event.target !== slider) soon();
  });
  form.addEventListener("submit", () => {
    setTimeout(() => form.querySelectorAll("button").forEach((each) => { each.disabled = true; }));
  });
  window.addEventListener("pageshow", () => {  // back from an answer
    form.querySelectorAll("button").forEach((each) => { each.disabled = false; });
  });
  place();
  if (!price.querySelector(".priced, .trouble")) soon();
}

// Whoever waits for an answer sees the page change by itself. Without this file, it is loaded again.
const waiting = () => document.querySelector("#job[data-watch]");
const watch = async () => {
  const answer = await fetch(location.href);
  if (answer.redirected) { location.replace(answer.url); return; }
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.querySelector("main").replaceChildren(...found.querySelector("main").childNodes);
  if (waiting()) setTimeout(watch, 1000);
};
if (waiting()) setTimeout(watch, 300);
