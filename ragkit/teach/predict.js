function (d) {
  // Lets the reader commit to one choice; then says whether it is right, and opens the answer.
  document.querySelectorAll('.rk-predict[data-key="' + d.key + '"]:not([data-ready])').forEach(function (root) {
    var copy = document.querySelectorAll(".rk-predict[data-ready]").length;
    root.setAttribute("data-ready", "");
    var radios = Array.from(root.querySelectorAll("input"));
    var button = root.querySelector("button");
    var verdict = root.querySelector(".rk-verdict");
    var details = root.querySelector("details");
    details.hidden = true;
    radios.forEach(function (radio) {
      radio.name += "-" + copy;
      radio.disabled = false;
      radio.addEventListener("change", function () { button.disabled = false; });
    });
    button.addEventListener("click", function () {
      var chosen = radios.findIndex(function (radio) { return radio.checked; });
      if (chosen < 0) return;
      radios.forEach(function (radio, i) {
        radio.disabled = true;
        if (i === d.right) radio.parentNode.classList.add("rk-right");
      });
      if (chosen !== d.right) radios[chosen].parentNode.classList.add("rk-wrong");
      button.hidden = true;
      verdict.textContent = chosen === d.right ? "Right." : "Not that one. " + d.reasons[chosen];
      details.hidden = false;
      details.open = true;
      details.querySelector("summary").focus();  // the button that had the focus is gone
    });
  });
}
