addEventListener("error", (event) => {
  document.documentElement.dataset.error = event.message;
  const line = document.createElement("p");
  line.className = "error";
  line.textContent = "This page could not be drawn: " + event.message;
  document.body.prepend(line);
});
