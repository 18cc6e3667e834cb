function (d) {
  // Compares the number that a reader types with the right one, and with the wrong ones that have a hint.
  document.querySelectorAll('.rk-exercise[data-key="' + d.key + '"]:not([data-ready])').forEach(function (root) {
    root.setAttribute("data-ready", "");
    var form = root.querySelector("form"), field = root.querySelector("input"), status = root.querySelector(".rk-verdict");
    field.disabled = root.querySelector("button").disabled = false;
    function near(typed, row) { return Math.abs(typed - row[0]) <= row[1]; }
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      // one plain number; a comma only between thousands, since 0,11 may mean two things
      var plain = /^[-+]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?$/.test(field.value.trim()) && /\d/.test(field.value);
      var typed = plain ? Number(field.value.trim().replace(/,/g, "")) : NaN;
      var hint = d.hints.find(function (row) { return near(typed, row); });
      var right = near(typed, d.right);
      root.classList.toggle("rk-right", right);
      status.textContent = isNaN(typed) ? "Type one number, with a point for decimals." : right ? d.praise : "Not yet. " + (hint ? hint[2] : d.nudge);
    });
  });
}
