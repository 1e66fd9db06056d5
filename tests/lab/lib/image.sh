# shellcheck shell=bash
# The image tar and the weights: made once, kept.

image_ensure() { # sets LAB_IMAGE_TAR
  mkdir -p "$SSKJ_LAB_CACHE"
  LAB_IMAGE_TAR=$(flock "$SSKJ_LAB_CACHE/lock" /usr/bin/python3 "$LAB_HOME/image/build.py" "$SSKJ_LAB_CACHE" 9>&-) ||
    die "the image could not be made (see above; Debian's packages are fetched with apt-get download)"
  [ -f "$LAB_IMAGE_TAR" ] || die "the image builder named no file"
}

weights_ensure() {
  [ -d "$SSKJ_LAB_DIR/weights" ] && return 0
  rm -rf "$SSKJ_LAB_DIR/weights.new"
  /usr/bin/python3 -IS "$LAB_HOME/lib/weights.py" "$SSKJ_LAB_DIR/weights.new" || die "the weights stand-in could not be written"
  mv "$SSKJ_LAB_DIR/weights.new" "$SSKJ_LAB_DIR/weights"
}
