function (d) {
  // Hides what does not hold the words that the reader types.
  document.querySelectorAll('.rk-browse[data-key="' + d.key + '"]:not([data-ready])').forEach(function (root) {
    root.setAttribute("data-ready", "");
    var input = root.querySelector("input");
    var status = root.querySelector('[role="status"]');
    var items = Array.from(root.querySelectorAll(".rk-item"));
    var texts = items.map(function (item) { return item.textContent.toLowerCase(); });
    input.disabled = false;
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var shown = 0;
      items.forEach(function (item, i) {
        item.hidden = !words.every(function (word) { return texts[i].indexOf(word) >= 0; });
        if (!item.hidden) shown += 1;
      });
      status.textContent = words.length ? shown + " of " + items.length : "";
    });
  });
}
