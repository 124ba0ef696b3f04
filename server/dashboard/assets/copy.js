// The buttons that copy a key or an id. Without the script the text can be selected and copied.
for (const button of document.querySelectorAll("[data-copy], [data-text]")) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.text ?? document.getElementById(button.dataset.copy).textContent);
    button.classList.add("done");
    if (label) button.textContent = "Copied";
    setTimeout(() => {
      button.classList.remove("done");
      button.textContent = label;
    }, 2000);
  });
}
